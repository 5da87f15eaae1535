import {
  ALL_PROJECTS,
  accountId,
  type BudgetPeriod,
  type BudgetThreshold,
  type EventBody,
  engineActor,
  isBuilding,
  REACTORS,
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
/** Maximum time between budget checks while it blocks work: the clock may have been changed. */
const LOOK_AGAIN_MS = 10 * 60_000;
/** Long enough that two engines do not compete in a tight loop for the rest of a budget. */
const WAIT_MS = 1_000;

/**
 *   50, 75 %: alert · 90 %: alert, core refuses new work · 100 %: every agent that uses the account stops
 * When the limit is raised or the period ends, claims succeed again.
 */
export class Spending implements Reactor {
  readonly name = 'spending';
  readonly projectId: string;
  /** Other projects also use the account of all projects. */
  readonly followsAllProjects = true;
  readonly on = REACTORS.spending.on;
  readonly #deps: EngineDeps;
  readonly #slots: () => readonly Slot[];
  readonly #calendars = new Calendars();

  constructor(deps: EngineDeps, slots: () => readonly Slot[]) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#slots = slots;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#alertMissed();
    if (call.cause === 'events') for (const { projectId, body } of call.events) await this.#follow(projectId, body);
  }

  /** When to retry work that the budget blocked. */
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
      // The project that spent the money raises the only alert.
      if (projectId === project.id) await this.#alert(body);
    } else if (body.type === 'budget.limited' || projectId === project.id) await this.#stopIfUsedUp();
  }

  /** Stops everything that costs money. Work is kept, and the tasks wait in their stages. */
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

  /** Raises alerts for thresholds that were reached just before an earlier daemon died. */
  async #alertMissed(): Promise<void> {
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
      if (threshold !== 0 && !known)
        await this.#alert({ accountId: account.id, period, threshold, spentUsd, limitUsd });
    }
  }

  async #alert(passed: Omit<Extract<EventBody, { type: 'budget.threshold_reached' }>, 'type'>): Promise<void> {
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
          ? ` No new work starts ${then}.`
          : '';
    await store.execute({
      type: 'alert.raise',
      projectId: project.id,
      taskId: null,
      kind: `budget_${threshold}`,
      severity: SEVERITY[threshold],
      subject: subjectOf(id, period, budget.account),
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

/** One alert per account and period. */
const subjectOf = (id: string, period: BudgetPeriod, { day, month }: { day: string; month: string }) =>
  `${id}/${period === 'daily' ? day : month}`;

/** Releases a task that the budget no longer covers. It waits in its stage, and its work is on its branch. */
export async function setAside(deps: EngineDeps, leased: LeasedTask, why: string): Promise<void> {
  const { task, ref } = leased;
  const now = await deps.store.task(task.id);
  const run = now?.lastRunId ? await deps.store.run(now.lastRunId) : null;
  if (run?.status === 'running' && isBuilding(run.mode)) {
    try {
      const { commit, tree, notes } = await deps.workspace.capture(ref, `#${task.number} ${task.title} (so far)`);
      await leased.must({ type: 'work.commit', commit, tree, notes });
    } catch (error) {
      deps.onNote(`the work on #${task.number} could not be committed; it stays in its worktree`, error);
    }
  }
  await leased.must({ type: 'stage.wait', why, untilMs: WAIT_MS });
}

/**
 * Adds a report to the usage. A request without a price gets an assumed price, which is removed when the real price is
 * reported (`settled`).
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
