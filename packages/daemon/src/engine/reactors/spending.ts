import {
  ALL_PROJECTS,
  accountId,
  type BudgetPeriod,
  type BudgetThreshold,
  type EventBody,
  engineActor,
  isBuilding,
  readUsage,
  type Severity,
  sumCount,
  sumUsd,
  UNKNOWN_REQUEST_USD,
  type Usage,
} from '@tidemill/contract';
import { budgetAccountOf, Calendars, exhaustedPeriod, howToRaise } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { LeasedTask } from '../workers/leased-work.ts';
import type { Slot } from '../workers/slot.ts';

const SEVERITY: Record<BudgetThreshold, Severity> = { 50: 'info', 75: 'warning', 90: 'error', 100: 'critical' };
/** A look at the budget at least this often while it holds work back: the clock may have been set. */
const LOOK_AGAIN_MS = 10 * 60_000;
/** Longer than a moment, so that two engines that contend for the last cent do not hand it to and fro. */
const WAIT_MS = 1_000;

/**
 *   50, 75 %: told · 90 %: told, core gives out nothing new · 100 %: every agent that draws on the account stops
 * The limit raised or the period over: claims succeed again, so all that is needed is to try.
 */
export class Spending implements Reactor {
  readonly name = 'spending';
  readonly projectId: string;
  /** Other projects draw on the account of all, too. */
  readonly hearsAll = true;
  readonly on = ['budget.threshold_reached', 'budget.limited', 'project.configured'] as const;
  readonly #deps: EngineDeps;
  readonly #slots: () => readonly Slot[];
  readonly #calendars = new Calendars();

  constructor(deps: EngineDeps, slots: () => readonly Slot[]) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#slots = slots;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#tellUntold();
    if (call.cause === 'events') for (const { projectId, body } of call.events) await this.#follow(projectId, body);
  }

  /** When to try again to begin something that the budget held back. */
  async resumeAt(): Promise<number> {
    const { clock } = this.#deps;
    const now = clock.now();
    const nextDays = (await this.#budgets()).map(({ limits }) =>
      this.#calendars.nextPeriodAt('daily', now, limits.timeZone),
    );
    return Math.min(now + LOOK_AGAIN_MS, ...nextDays);
  }

  async #follow(projectId: string, body: EventBody): Promise<void> {
    const { project } = this.#deps;
    if (body.type === 'budget.threshold_reached') {
      const isOurs = [accountId(project.id), accountId(ALL_PROJECTS)].includes(body.accountId);
      if (isOurs && body.threshold === 100) await this.#stopIfUsedUp();
      // Once for all projects: by the one whose spending it was.
      if (projectId === project.id) await this.#tell(body);
    } else if (body.type === 'budget.limited' || projectId === project.id) await this.#stopIfUsedUp();
  }

  /** Everything that costs. What it did is kept; the tasks wait in their stages. */
  async #stopIfUsedUp(): Promise<void> {
    const exhausted = exhaustedPeriod(await this.#budgets());
    const paid = this.#slots().filter(({ leased, role }) => leased && (role === 'builder' || role === 'reviewer'));
    if (!exhausted || paid.length === 0) return;
    const { store, project } = this.#deps;
    const tasks = paid.flatMap(({ leased }) => (leased instanceof LeasedTask ? leased.task.number : []));
    for (const { leased } of paid) leased?.kill('budget', exhausted.text);
    const about = { operation: 'emergency_stop', by: engineActor('budget'), reason: exhausted.text } as const;
    const workers = paid.map(({ name }) => name);
    await store.execute({ type: 'emergency.record', projectId: project.id, ...about, workers, tasks });
  }

  /** A threshold that was passed just before the daemon died is told by the next one. */
  async #tellUntold(): Promise<void> {
    const { project, store } = this.#deps;
    const [own] = await this.#budgets();
    if (!own) return;
    const { account, limits } = own;
    for (const period of ['daily', 'monthly'] as const) {
      const threshold = account.told[period] as BudgetThreshold | 0;
      const [spentUsd, limitUsd] =
        period === 'daily' ? [account.spentDayUsd, limits.dailyUsd] : [account.spentMonthUsd, limits.monthlyUsd];
      const subject = subjectOf(account.id, period, account);
      const known = await store.record('alert', `alert/${project.id}/budget_${threshold}/${subject}`);
      if (threshold !== 0 && !known) await this.#tell({ accountId: account.id, period, threshold, spentUsd, limitUsd });
    }
  }

  async #tell(passed: Omit<Extract<EventBody, { type: 'budget.threshold_reached' }>, 'type'>): Promise<void> {
    const { store, project, clock } = this.#deps;
    const { accountId: id, period, threshold, spentUsd, limitUsd } = passed;
    const budget = (await this.#budgets()).find(({ account }) => account.id === id);
    if (!budget) return;
    const whose = id === accountId(ALL_PROJECTS) ? 'of all projects' : 'of the project';
    const figures = `${spentUsd.toFixed(2)} of ${limitUsd.toFixed(2)} USD`;
    const until = new Date(this.#calendars.nextPeriodAt(period, clock.now(), budget.limits.timeZone)).toISOString();
    const then = `until ${until}, or ${howToRaise(id)}`;
    const effect =
      threshold === 100
        ? ` Every agent it pays for is stopped ${then}. Their work is kept.`
        : threshold === 90
          ? ` Nothing new is begun ${then}.`
          : '';
    await store.execute({
      ...{ type: 'alert.raise', projectId: project.id, taskId: null, kind: `budget_${threshold}` },
      ...{ severity: SEVERITY[threshold], subject: subjectOf(id, period, budget.account) },
      text: `${threshold} % of the ${period} budget ${whose} is spent: ${figures}.${effect}`,
    });
  }

  async #budgets() {
    const { store, project, clock } = this.#deps;
    const now = clock.now();
    const current = (await store.project(project.id)) ?? project;
    const accounts = await Promise.all(
      [project.id, ALL_PROJECTS].map((owner) => store.record('account', accountId(owner))),
    );
    return [
      budgetAccountOf(current, accounts[0] ?? undefined, now, this.#calendars),
      budgetAccountOf(null, accounts[1] ?? undefined, now, this.#calendars),
    ];
  }
}

/** One matter per account and period: it is told once, and again tomorrow. */
const subjectOf = (id: string, period: BudgetPeriod, { day, month }: { day: string; month: string }) =>
  `${id}/${period === 'daily' ? day : month}`;

/** Gives a task back that the budget does not pay for any longer. It waits in its stage; what was built is on its branch. */
export async function setAside(deps: EngineDeps, leased: LeasedTask, why: string): Promise<void> {
  const { task, ref } = leased;
  const now = await deps.store.task(task.id);
  const run = now?.lastRunId ? await deps.store.run(now.lastRunId) : null;
  if (run?.status === 'running' && isBuilding(run.mode)) {
    try {
      const { commit, tree, notes } = await deps.workspace.capture(ref, `#${task.number} ${task.title} (so far)`);
      await leased.must({ type: 'work.commit', commit, tree, notes });
    } catch (error) {
      deps.onNote(`the work on #${task.number} stays in its worktree: it could not be committed`, error);
    }
  }
  await leased.must({ type: 'stage.wait', why, untilMs: WAIT_MS });
}

/**
 * The usage with one more report in it. A request whose price nobody told is not free; what was assumed of one ends with
 * its price being told (`settled`).
 */
export function withReport(usage: Usage, report: Usage, settled = 0): Usage {
  const { inputTokens, outputTokens, costUsd, requests } = readUsage(report);
  const { assumedUsd = 0 } = usage;
  const assumed = costUsd === null ? requests * UNKNOWN_REQUEST_USD : 0;
  const known = Math.min(settled * UNKNOWN_REQUEST_USD, assumedUsd);
  const isPriced = costUsd !== null || assumed > 0;
  return {
    inputTokens: sumCount(usage.inputTokens, inputTokens),
    outputTokens: sumCount(usage.outputTokens, outputTokens),
    requests: sumCount(usage.requests, requests),
    costUsd: isPriced ? Math.max(0, sumUsd(usage.costUsd ?? 0, (costUsd ?? assumed) - known)) : usage.costUsd,
    assumedUsd: sumUsd(assumedUsd, assumed - known),
  };
}

export const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0, assumedUsd: 0 };
