import {
  type HistoryView,
  METRIC_PERIOD_MS,
  type MetricPeriod,
  type MetricsView,
  type Project,
} from '@tidemill/contract';
import type { Clock, Store } from '../ports.ts';
import { type Facts, figuresOf } from './figures.ts';
import { gateFiguresOf } from './gate-figures.ts';
import { type PastFacts, pointsOf, spendOf, stepsOf } from './history.ts';
import { qualityOf } from './quality.ts';
import { RecentRuns } from './recent-runs.ts';

/** How long metrics are reused: several clients poll every few seconds. */
const FRESH_MS = 2_000;

export interface MetricsSource {
  of(project: Project, period: MetricPeriod): Promise<MetricsView>;
  history(project: Project, period: MetricPeriod): Promise<HistoryView>;
}

/** The facts about a project at a certain time. */
interface Known extends Facts, PastFacts {
  at: number;
}

interface Sources {
  facts(project: Project): Promise<Known>;
  projects(): Promise<Project[]>;
}

/** Metrics of each project. If they cannot be read, the last known ones are returned and marked. */
export class Metrics implements MetricsSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onNote: (text: string, error?: unknown) => void;
  readonly #recent = new Map<string, RecentRuns>();
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<Known>>();
  #projects: Project[] = [];
  readonly #figures: Views<MetricsView>;
  readonly #histories: Views<HistoryView>;

  constructor(store: Store, clock: Clock, onNote: (text: string, error?: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onNote = onNote;
    this.#figures = new Views(clock);
    this.#histories = new Views(clock);
  }

  of(project: Project, period: MetricPeriod): Promise<MetricsView> {
    return this.#given(this.#figures, `${period} ${project.id}`, async (sources) => {
      const known = await sources.facts(project);
      const gates = await gateFiguresOf(this.#store, project, period, known.at);
      const quality = await qualityOf(this.#store, project, known, gates, { period, now: known.at });
      return { ...(await figuresOf(known, period, known.at)), flakes: gates.flakes, quality, isStale: false };
    });
  }

  history(project: Project, period: MetricPeriod): Promise<HistoryView> {
    return this.#given(this.#histories, `${period} ${project.id}`, async ({ facts, projects }) => {
      const own = await facts(project);
      const steps = stepsOf(period, own.at);
      const spend: HistoryView['spend'] = [];
      for (const each of await projects()) spend.push(...spendOf(each.id, await facts(each), steps));
      return { ...steps, isStale: false, points: pointsOf(own, steps), spend };
    });
  }

  async #given<V extends HistoryView | MetricsView>(
    views: Views<V>,
    name: string,
    compute: (sources: Sources) => Promise<V>,
  ): Promise<V> {
    try {
      return await views.fresh(name, () => compute(this.#now));
    } catch (error) {
      const last = await compute(this.#before).catch((): never => {
        throw error;
      });
      this.#onNote('the figures could not be computed; showing the last known ones', error);
      return { ...last, isStale: true };
    }
  }

  readonly #now: Sources = {
    facts: (project) => this.#facts(project),
    projects: async () => {
      this.#projects = await this.#store.projects();
      return this.#projects;
    },
  };

  /** The result of the last successful read. */
  readonly #before: Sources = {
    facts: async ({ id, name }) => {
      const known = this.#known.get(id);
      if (!known) throw new Error(`nothing is known of ${name} yet`);
      return known;
    },
    projects: async () => this.#projects.filter(({ id }) => this.#known.has(id)),
  };

  /** Concurrent requests share one read. */
  async #facts(project: Project): Promise<Known> {
    const known = this.#known.get(project.id);
    if (known && isFresh(this.#clock, known.at)) return known;
    const running = this.#reading.get(project.id);
    if (running) return running;
    const reading = this.#read(project).finally(() => this.#reading.delete(project.id));
    this.#reading.set(project.id, reading);
    return reading;
  }

  async #read(project: Project): Promise<Known> {
    const at = this.#clock.now();
    const recent = this.#recent.get(project.id) ?? new RecentRuns(this.#store, project.id);
    this.#recent.set(project.id, recent);
    await recent.refresh(at);
    const { runs, done, lives } = recent;
    const known: Known = {
      at,
      runs,
      done,
      lives,
      workers: await this.#store.workers(project.id),
      busySince: await this.#busySince(project.id),
      createdAt: Math.max(project.createdAt, at - METRIC_PERIOD_MS['30d']),
    };
    this.#known.set(project.id, known);
    return known;
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

const isFresh = (clock: Clock, at: number) => Math.abs(clock.now() - at) < FRESH_MS;

/** Caches the last view of each name. Concurrent requests share one computation. */
class Views<V extends { computedAt: number }> {
  readonly #clock: Clock;
  readonly #last = new Map<string, V>();
  readonly #computing = new Map<string, Promise<V>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async fresh(name: string, compute: () => Promise<V>): Promise<V> {
    const last = this.#last.get(name);
    if (last && isFresh(this.#clock, last.computedAt)) return last;
    const running = this.#computing.get(name);
    if (running) return running;
    const work = compute().then((view) => {
      this.#last.set(name, view);
      return view;
    });
    this.#computing.set(name, work);
    return work.finally(() => this.#computing.delete(name));
  }
}
