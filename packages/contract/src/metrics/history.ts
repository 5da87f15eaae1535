import { z } from 'zod';
import { Mode } from '../run/run.ts';
import { MetricPeriod } from './metrics.ts';

/** Figures over time in equal steps, for charts. */
export const HistoryPoint = z.object({
  /** Where the step begins. */
  at: z.number(),
  done: z.number().int(),
  /** Of the tasks done in this step, on average; null when there were none. */
  cycleTimeMs: z.number().nullable(),
  /** Of the first reviews in this step. */
  firstPassRate: z.number().nullable(),
  /** Tasks that were neither done nor cancelled at the end of the step. */
  queued: z.number().int(),
});
export type HistoryPoint = z.infer<typeof HistoryPoint>;

export const SpendPoint = z.object({
  at: z.number(),
  /** Its id: two may have the same name. */
  project: z.string(),
  mode: Mode,
  agent: z.string(),
  usd: z.number(),
  runs: z.number().int(),
});
export type SpendPoint = z.infer<typeof SpendPoint>;

export const HistoryView = z.object({
  period: MetricPeriod,
  computedAt: z.number(),
  /** They could not be recomputed: these are the last known. */
  isStale: z.boolean(),
  stepMs: z.number(),
  points: z.array(HistoryPoint),
  /** All projects, for comparison. */
  spend: z.array(SpendPoint),
});
export type HistoryView = z.infer<typeof HistoryView>;
