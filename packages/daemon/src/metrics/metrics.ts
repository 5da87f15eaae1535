import { METRIC_PERIOD_MS, MetricPeriod, type MetricsView, type Project } from '@tidemill/contract';
import type { Clock, Store } from '../ports.ts';
import { type Facts, figuresOf } from './figures.ts';
import { RunLedger } from './ledger.ts';

/** Figures younger than this are given out again: several surfaces ask every few seconds. */
const FRESH_MS = 2_000;

export interface MetricsSource {
  of(project: Project, period: MetricPeriod): Promise<MetricsView>;
}

/** How the work of each project went. When it cannot be found out, the last known figures are given, marked as such. */
export class Metrics implements MetricsSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onNote: (text: string, error?: unknown) => void;
  readonly #ledgers = new Map<string, RunLedger>();
  readonly #known = new Map<string, Map<MetricPeriod, MetricsView>>();
  readonly #computing = new Map<string, Promise<void>>();

  constructor(store: Store, clock: Clock, onNote: (text: string, error?: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onNote = onNote;
  }

  async of(project: Project, period: MetricPeriod): Promise<MetricsView> {
    const known = this.#known.get(project.id)?.get(period);
    if (known && Math.abs(this.#clock.now() - known.computedAt) < FRESH_MS) return known;
    try {
      await this.#compute(project);
      return this.#known.get(project.id)!.get(period)!;
    } catch (error) {
      if (!known) throw error;
      this.#onNote('the figures could not be computed; the last known are shown', error);
      return { ...known, isStale: true };
    }
  }

  /** Once for all who ask at the same time. */
  async #compute(project: Project): Promise<void> {
    const running = this.#computing.get(project.id);
    if (running) return running;
    const work = this.#computeNow(project).finally(() => this.#computing.delete(project.id));
    this.#computing.set(project.id, work);
    return work;
  }

  async #computeNow(project: Project): Promise<void> {
    const now = this.#clock.now();
    const ledger = this.#ledgers.get(project.id) ?? new RunLedger(this.#store, project.id);
    this.#ledgers.set(project.id, ledger);
    await ledger.refresh(now);
    const facts: Facts = {
      runs: ledger.runs,
      done: ledger.done,
      workers: await this.#store.workers(project.id),
      busySince: await this.#busySince(project.id),
      createdAt: Math.max(project.createdAt, now - METRIC_PERIOD_MS['30d']),
    };
    const views = MetricPeriod.options.map((period) => ({ ...figuresOf(facts, period, now), isStale: false }));
    this.#known.set(project.id, new Map(views.map((view) => [view.period, view])));
  }

  async #busySince(projectId: string): Promise<Map<string, number>> {
    const busy = new Map<string, number>();
    for (const { lease, lastRunId } of await this.#store.leased(projectId)) {
      const run = lastRunId ? await this.#store.run(lastRunId) : null;
      if (lease && run?.status === 'running' && run.workerId === lease.workerId)
        busy.set(lease.workerId, run.startedAt);
    }
    return busy;
  }
}
