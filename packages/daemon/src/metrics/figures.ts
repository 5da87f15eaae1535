import {
  METRIC_PERIOD_MS,
  type MetricFigures,
  type MetricPeriod,
  type MetricsView,
  type Worker,
} from '@tidemill/contract';
import type { DoneTask, RunFact } from './ledger.ts';

export interface Facts {
  runs: RunFact[];
  done: DoneTask[];
  workers: Worker[];
  /** When each worker at work began its run. */
  busySince: Map<string, number>;
  /** Nobody was there before. */
  createdAt: number;
}

/** All figures of a period, from facts alone. */
export function figuresOf(facts: Facts, period: MetricPeriod, now: number): Omit<MetricsView, 'isStale'> {
  const start = Math.max(now - METRIC_PERIOD_MS[period], facts.createdAt);
  const agents = facts.workers.filter(({ role }) => role === 'builder' || role === 'reviewer');
  const busy = new Map(agents.map(({ id }) => [id, 0]));
  const workers = agents.map((worker) => {
    const from = Math.max(start, worker.resetAt);
    const mine = facts.runs.filter((run) => run.workerId === worker.id && run.endedAt > from);
    const worked = new Set(
      facts.runs.filter((run) => run.workerId === worker.id && run.isSuccess).map((r) => r.taskId),
    );
    const done = facts.done.filter((task) => task.doneAt > from && worked.has(task.id));
    const busyMs = busyTime(mine, facts.busySince.get(worker.id), from, now);
    busy.set(worker.id, busyMs);
    return {
      name: worker.name,
      role: worker.role,
      ...figures(mine, done, reviewsOf(facts.runs, worker, from), { ms: busyMs, ofMs: now - from }),
    };
  });
  const runs = facts.runs.filter((run) => run.endedAt > start);
  const done = facts.done.filter((task) => task.doneAt > start);
  const busyMs = [...busy.values()].reduce((sum, ms) => sum + ms, 0);
  const time = { ms: busyMs, ofMs: agents.reduce((sum, { resetAt }) => sum + now - Math.max(start, resetAt), 0) };
  const total = figures(runs, done, runs.filter(isFirstReview), time);
  return { period, computedAt: now, workers, total };
}

function figures(
  runs: RunFact[],
  done: DoneTask[],
  firstReviews: RunFact[],
  time: { ms: number; ofMs: number },
): MetricFigures {
  const errors = runs.filter((run) => run.isFailure).length;
  const tasks = new Set(runs.map((run) => run.taskId)).size;
  const doneIds = new Set(done.map(({ id }) => id));
  const cycles = done.flatMap(({ claimedAt, doneAt }) => (claimedAt === null ? [] : [doneAt - claimedAt]));
  return {
    completed: done.length,
    cycleTimeMs: mean(cycles),
    firstReviewPassRate: mean(firstReviews.map((run) => (run.outcome === 'approved' ? 1 : 0))),
    errors,
    errorRate: tasks === 0 ? null : errors / tasks,
    costUsd: cost(runs),
    costPerTaskUsd: done.length === 0 ? null : cost(runs.filter((run) => doneIds.has(run.taskId))) / done.length,
    uptime: time.ofMs <= 0 ? 0 : Math.min(1, time.ms / time.ofMs),
  };
}

const isFirstReview = (run: RunFact) =>
  run.mode === 'review' && run.attempt === 1 && (run.outcome === 'approved' || run.outcome === 'changes_requested');

/** Of what it built; of a reviewer those that it made. */
function reviewsOf(runs: RunFact[], worker: Worker, from: number): RunFact[] {
  const first = runs.filter((run) => isFirstReview(run) && run.endedAt > from);
  if (worker.role === 'reviewer') return first.filter((run) => run.workerId === worker.id);
  const built = new Set(runs.filter((run) => run.workerId === worker.id && run.isBuilding).map((run) => run.taskId));
  return first.filter((run) => built.has(run.taskId));
}

function busyTime(runs: RunFact[], busySince: number | undefined, from: number, now: number): number {
  const current = busySince === undefined ? 0 : Math.max(0, now - Math.max(busySince, from));
  return runs.reduce((sum, run) => sum + Math.max(0, run.endedAt - Math.max(run.startedAt, from)), current);
}

const cost = (runs: RunFact[]) => runs.reduce((sum, run) => sum + run.costUsd, 0);
const mean = (values: number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
