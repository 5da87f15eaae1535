import { z } from 'zod';
import { Role } from '../worker/worker.ts';

export const MetricPeriod = z.enum(['24h', '7d', '30d']);
export type MetricPeriod = z.infer<typeof MetricPeriod>;

const DAY = 24 * 3_600_000;
export const METRIC_PERIOD_MS: Record<MetricPeriod, number> = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY };

/** Null: there is no data for this figure yet. */
export const MetricFigures = z.object({
  /** Tasks that were done. For a worker: those that it worked on successfully. */
  completed: z.number().int(),
  /** From the first claim to done, on average. */
  cycleTimeMs: z.number().nullable(),
  /** The share of first reviews that approved. */
  firstReviewPassRate: z.number().nullable(),
  /** Runs that failed. */
  errors: z.number().int(),
  /** Failed runs per task that was worked on. */
  errorRate: z.number().nullable(),
  /** All runs, including failed and interrupted ones. */
  costUsd: z.number(),
  /** What the done tasks have cost, on average. */
  costPerTaskUsd: z.number().nullable(),
  /** The share of time in which an agent was active. */
  uptime: z.number(),
});
export type MetricFigures = z.infer<typeof MetricFigures>;

/** How well the work goes, and whether what was learned helps. Null: there is no data for this figure yet. */
export const QualityFigures = z.object({
  /** The share of done tasks that no gate and no review sent back. */
  firstPassRate: z.number().nullable(),
  /** Reviews per done task that was reviewed. */
  reviewsPerTask: z.number().nullable(),
  /** The share of gate runs that passed; a flake counts as passed. */
  gatePassRate: z.number().nullable(),
  /** Questions about tasks, per task that was worked on. */
  questionsPerTask: z.number().nullable(),
  /** How often each guard refused something, the most frequent first. */
  refusals: z.array(z.object({ guard: z.string(), count: z.number().int() })),
  /** Lessons that were learned from something that happened, and how often it happened again since. */
  lessons: z.number().int(),
  repeats: z.number().int(),
  /** Traces that agents were given or asked for. */
  tracesRead: z.number().int(),
});
export type QualityFigures = z.infer<typeof QualityFigures>;

export const MetricsView = z.object({
  period: MetricPeriod,
  computedAt: z.number(),
  /** The figures could not be recomputed: these are the last known. */
  isStale: z.boolean(),
  workers: z.array(MetricFigures.extend({ name: z.string(), role: Role })),
  total: MetricFigures,
  /** Gates that failed and then passed on the same code: how often, of how many runs. */
  flakes: z.array(z.object({ gate: z.string(), runs: z.number().int(), flakes: z.number().int() })).default([]),
  quality: QualityFigures.optional(),
});
export type MetricsView = z.infer<typeof MetricsView>;
