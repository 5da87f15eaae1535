import type { EndedRun, Loop, LoopConfig, ProjectRules, Proposal } from '@tidemill/contract';
import type { LoopFigures } from '@tidemill/core';
import type { Store } from '../../ports.ts';

const DAY_MS = 24 * 3_600_000;
export const MONTH_MS = 30 * DAY_MS;

/** The loop's proposals and what its runs cost, read once and then only added to. */
export class LoopLedger {
  readonly #store: Store;
  readonly #projectId: string;
  readonly #proposals = new Map<string, Proposal>();
  readonly #tasks = new Set<string>();
  /** All runs of a month: one of the loop's task may end before its proposal is read again. */
  readonly #runs = new Map<string, EndedRun>();
  #readUntil = 0;
  #isRead = false;

  constructor(store: Store, projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  get proposals(): Iterable<Proposal> {
    return this.#proposals.values();
  }

  /** Brings it up to date. `changed`: proposals that are different since. */
  async refresh(now: number, changed: Iterable<string> = []): Promise<void> {
    const projectId = this.#projectId;
    if (!this.#isRead) {
      this.#proposals.clear();
      for (const proposal of await this.#store.records({ noun: 'proposal', projectId })) this.#put(proposal);
      this.#isRead = true;
    } else
      for (const id of changed) {
        const proposal = await this.#store.record('proposal', id);
        if (proposal) this.#put(proposal);
      }
    const oldest = now - MONTH_MS;
    // One moment may hold the end of several runs: what is read again is the same.
    const after = Math.max(oldest, this.#readUntil - 1);
    for (const run of await this.#store.runsEnded({ projectId, after })) {
      this.#runs.set(run.id, run);
      this.#readUntil = Math.max(this.#readUntil, run.endedAt);
    }
    for (const [id, { endedAt }] of this.#runs) if (endedAt <= oldest) this.#runs.delete(id);
  }

  /** What counts for a pause: nothing from before the loop was switched on last. */
  figures(now: number, loop: Loop | null, rules: Pick<ProjectRules, 'loop' | 'budget'>): LoopFigures {
    const since = loop?.switched?.on ? loop.switched.at : 0;
    const month = this.#ownRuns().filter(({ endedAt }) => endedAt > Math.max(since, now - MONTH_MS));
    const day = month.filter(({ endedAt }) => endedAt > now - DAY_MS);
    const finished = [...this.proposals].filter(
      ({ outcome, endedAt }) => outcome !== null && endedAt! > Math.max(since, now - MONTH_MS),
    );
    return {
      spentDayUsd: cost(day),
      budgetUsd: rules.loop.budgetUsdPerDay ?? rules.budget.dailyUsd,
      runsDay: day.length,
      failedDay: day.filter(({ failure }) => failure !== null).length,
      spentMonthUsd: cost(month),
      landedMonth: finished.filter(({ outcome }) => outcome === 'landed').length,
      finishedMonth: finished.length,
      lostMonth: finished.filter(({ outcome }) => outcome !== 'landed').length,
    };
  }

  /** Until when the budget of a day is spent; null while it is not. Costs leave the day one by one. */
  spentUntil(now: number, loop: Loop | null, { budgetUsdPerDay }: Pick<LoopConfig, 'budgetUsdPerDay'>): number | null {
    if (budgetUsdPerDay === undefined) return null;
    const since = Math.max(loop?.switched?.on ? loop.switched.at : 0, now - DAY_MS);
    const day = this.#ownRuns().filter(({ endedAt }) => endedAt > since);
    let spent = cost(day);
    if (spent < budgetUsdPerDay) return null;
    for (const run of day.sort((a, b) => a.endedAt - b.endedAt)) {
      spent -= run.costUsd ?? 0;
      if (spent < budgetUsdPerDay) return run.endedAt + DAY_MS;
    }
    return now + DAY_MS;
  }

  /** What a person sees, whenever the loop was switched. */
  shown(now: number) {
    const month = this.#ownRuns();
    const landed = [...this.proposals].filter(
      ({ outcome, endedAt }) => outcome === 'landed' && endedAt! > now - MONTH_MS,
    );
    const times = landed.map(({ createdAt, endedAt }) => endedAt! - createdAt);
    // One that was accepted within the last day may still land in time.
    const due = [...this.proposals].filter(
      ({ status, outcome, decidedAt }) =>
        status === 'accepted' && decidedAt! > now - MONTH_MS && (outcome !== null || decidedAt! < now - DAY_MS),
    );
    const whole = due.filter(
      ({ outcome, decidedAt, endedAt }) => outcome === 'landed' && endedAt! - decidedAt! <= DAY_MS,
    );
    const spentMonthUsd = cost(month);
    return {
      spentDayUsd: cost(month.filter(({ endedAt }) => endedAt > now - DAY_MS)),
      spentMonthUsd,
      costPerTaskUsd: landed.length === 0 ? null : spentMonthUsd / landed.length,
      cycleTimeMs: times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0) / times.length,
      completeness: due.length === 0 ? null : whole.length / due.length,
    };
  }

  #put(proposal: Proposal): void {
    this.#proposals.set(proposal.id, proposal);
    if (proposal.taskId !== null) this.#tasks.add(proposal.taskId);
  }

  #ownRuns(): EndedRun[] {
    return [...this.#runs.values()].filter(({ mode, subjectId }) => mode === 'propose' || this.#tasks.has(subjectId));
  }
}

const cost = (runs: EndedRun[]) => runs.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
