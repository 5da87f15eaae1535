import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type EndedRun,
  isBuilding,
  METRIC_PERIOD_MS,
  type MetricFigures,
  type MetricPeriod,
  type MetricsView,
  sumUsd,
  type Worker,
  workerLabel,
} from '@tidemill/contract';
import type { DoneTask } from './recent-runs.ts';

export interface Facts {
  runs: EndedRun[];
  done: DoneTask[];
  workers: Worker[];
  /** When each worker at work began its run. */
  busySince: Map<string, number>;
  /** Nobody was there before. */
  createdAt: number;
}

/** Where a period begins: nobody was there before the project was. */
export const startOf = (createdAt: number, period: MetricPeriod, now: number) =>
  Math.max(now - METRIC_PERIOD_MS[period], createdAt);

/** All figures of a period, from facts alone. A month of runs takes a while: others get their turn in between. */
export async function figuresOf(
  facts: Facts,
  period: MetricPeriod,
  now: number,
): Promise<Omit<MetricsView, 'isStale' | 'flakes' | 'quality'>> {
  const start = startOf(facts.createdAt, period, now);
  const agents = facts.workers.filter(({ role }) => role === 'builder' || role === 'reviewer');
  const byWorker = Map.groupBy(facts.runs, ({ workerId }) => workerId);
  const firstReviews = facts.runs.filter(isFirstReview);
  let busyMs = 0;
  let ofMs = 0;
  const workers: MetricsView['workers'] = [];
  for (const worker of agents) {
    await nextTurn();
    const from = Math.max(start, worker.resetAt);
    const all = byWorker.get(worker.id) ?? [];
    const runs = all.filter((run) => run.endedAt > from);
    const succeeded = new Set(all.filter(isSuccess).map((run) => run.subjectId));
    const built = new Set(all.filter(({ mode }) => isBuilding(mode)).map((run) => run.subjectId));
    const done = facts.done.filter((task) => task.doneAt > from && succeeded.has(task.id));
    // Of what it built; of a reviewer those that it made.
    const isItsOwn = (review: EndedRun) =>
      worker.role === 'reviewer' ? review.workerId === worker.id : built.has(review.subjectId);
    const reviews = firstReviews.filter((review) => review.endedAt > from && isItsOwn(review));
    const time = { ms: busyTime(runs, facts.busySince.get(worker.id), from, now), ofMs: now - from };
    // Nobody waits for one outside the daemon while it does something else.
    if (!worker.isOutside) {
      busyMs += time.ms;
      ofMs += time.ofMs;
    }
    workers.push({
      name: workerLabel(worker, facts.workers),
      role: worker.role,
      ...figures(runs, done, reviews, time),
    });
  }
  await nextTurn();
  const runs = facts.runs.filter((run) => run.endedAt > start);
  const done = facts.done.filter((task) => task.doneAt > start);
  const reviews = firstReviews.filter((review) => review.endedAt > start);
  return { period, computedAt: now, workers, total: figures(runs, done, reviews, { ms: busyMs, ofMs }) };
}

function figures(
  runs: EndedRun[],
  done: DoneTask[],
  firstReviews: EndedRun[],
  time: { ms: number; ofMs: number },
): MetricFigures {
  const errors = runs.filter(isFailure).length;
  const tasks = new Set(runs.map((run) => run.subjectId)).size;
  const doneIds = new Set(done.map(({ id }) => id));
  const cycles = done.flatMap(({ claimedAt, doneAt }) => (claimedAt === null ? [] : [doneAt - claimedAt]));
  return {
    completed: done.length,
    cycleTimeMs: mean(cycles),
    firstReviewPassRate: mean(firstReviews.map((run) => (run.outcome === 'approved' ? 1 : 0))),
    errors,
    errorRate: tasks === 0 ? null : errors / tasks,
    costUsd: cost(runs),
    costPerTaskUsd: done.length === 0 ? null : cost(runs.filter((run) => doneIds.has(run.subjectId))) / done.length,
    uptime: time.ofMs <= 0 ? 0 : Math.min(1, time.ms / time.ofMs),
  };
}

const isFailure = ({ failure, outcome }: EndedRun) => failure !== null || outcome === 'failed';
const isSuccess = (run: EndedRun) => !isFailure(run) && run.outcome !== 'interrupted';
export const isFirstReview = (run: EndedRun) =>
  run.mode === 'review' && run.attempt === 1 && (run.outcome === 'approved' || run.outcome === 'changes_requested');

function busyTime(runs: EndedRun[], busySince: number | undefined, from: number, now: number): number {
  const current = busySince === undefined ? 0 : Math.max(0, now - Math.max(busySince, from));
  return runs.reduce((sum, run) => sum + Math.max(0, run.endedAt - Math.max(run.startedAt, from)), current);
}

const cost = (runs: EndedRun[]) => runs.reduce((sum, run) => sumUsd(sum, run.costUsd ?? 0), 0);
export const mean = (values: number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
