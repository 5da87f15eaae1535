import {
  type EndedRun,
  type HistoryPoint,
  type HistoryView,
  METRIC_PERIOD_MS,
  type MetricPeriod,
  type SpendPoint,
  sumUsd,
} from '@tidemill/contract';
import { isFirstReview, mean, startOf } from './figures.ts';
import type { DoneTask, TaskLife } from './recent-runs.ts';

export interface PastFacts {
  runs: EndedRun[];
  done: DoneTask[];
  lives: TaskLife[];
  createdAt: number;
}

const HOUR = 3_600_000;
const STEP_MS: Record<MetricPeriod, number> = { '24h': HOUR, '7d': 6 * HOUR, '30d': 24 * HOUR };

type Steps = Pick<HistoryView, 'period' | 'computedAt' | 'stepMs'>;

/** Equal steps, the last of which ends now. */
export const stepsOf = (period: MetricPeriod, now: number): Steps => ({
  period,
  computedAt: now,
  stepMs: STEP_MS[period],
});

const countOf = ({ period, stepMs }: Steps) => METRIC_PERIOD_MS[period] / stepMs;
const beginOf = ({ period, computedAt }: Steps) => computedAt - METRIC_PERIOD_MS[period];

/** A step holds its end and not its beginning. What lies before the first counts to it, what lies ahead to the last. */
function indexOf(steps: Steps, at: number): number {
  const index = Math.ceil((at - beginOf(steps)) / steps.stepMs) - 1;
  return Math.min(countOf(steps) - 1, Math.max(0, index));
}

/** How a project's work went, step by step; over all steps it is what the metrics of the same period say. */
export function pointsOf(facts: PastFacts, steps: Steps): HistoryPoint[] {
  const start = startOf(facts.createdAt, steps.period, steps.computedAt);
  const buckets = Array.from({ length: countOf(steps) }, () => ({
    done: 0,
    cycles: [] as number[],
    passes: [] as number[],
    change: 0,
  }));
  const bucket = (at: number) => buckets[indexOf(steps, at)]!;
  for (const { doneAt, claimedAt } of facts.done) {
    if (doneAt <= start) continue;
    bucket(doneAt).done += 1;
    if (claimedAt !== null) bucket(doneAt).cycles.push(doneAt - claimedAt);
  }
  for (const run of facts.runs)
    if (run.endedAt > start && isFirstReview(run)) bucket(run.endedAt).passes.push(run.outcome === 'approved' ? 1 : 0);
  for (const { createdAt, finishedAt } of facts.lives) {
    bucket(createdAt).change += 1;
    if (finishedAt !== null) bucket(finishedAt).change -= 1;
  }
  let queued = 0;
  return buckets.map(({ done, cycles, passes, change }, index) => {
    queued += change;
    const at = beginOf(steps) + index * steps.stepMs;
    return { at, done, cycleTimeMs: mean(cycles), firstPassRate: mean(passes), queued };
  });
}

/** What a project's runs have cost, by step, mode and agent; steps without a run are left out. */
export function spendOf(project: string, facts: PastFacts, steps: Steps): SpendPoint[] {
  const start = startOf(facts.createdAt, steps.period, steps.computedAt);
  const points = new Map<string, SpendPoint[]>();
  for (const { endedAt, mode, agent, costUsd } of facts.runs) {
    if (endedAt <= start) continue;
    const at = beginOf(steps) + indexOf(steps, endedAt) * steps.stepMs;
    const key = `${mode} ${agent}`;
    const before = points.get(key) ?? [];
    points.set(key, before);
    // Runs come by their end: the one that is looked for is the last but rarely.
    let point = before.findLast((each) => each.at === at);
    if (!point) {
      point = { at, project, mode, agent, usd: 0, runs: 0 };
      before.push(point);
    }
    point.usd = sumUsd(point.usd, costUsd ?? 0);
    point.runs += 1;
  }
  return [...points.values()].flat().sort((a, b) => a.at - b.at);
}
