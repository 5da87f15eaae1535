import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { Pattern, Trace } from './trace.ts';

/** How much of a trace is returned: what exists, what it says, or everything. */
export const TraceLevel = z.enum(['metadata', 'summary', 'full']);
export type TraceLevel = z.infer<typeof TraceLevel>;

/** About how many tokens an answer of each level may have, where the caller asks for a budget. */
export const LEVEL_TOKENS: Record<TraceLevel, number> = { metadata: 500, summary: 1_000, full: 2_000 };

/** A trace at some level. Fields above the level are absent. */
export const TraceView = Trace.pick({ id: true, type: true, source: true, at: true }).extend({
  /** The number of its task. */
  task: z.number().int().nullable(),
  agent: z.string().nullable(),
  /** From `summary` on. Cut there, whole at `full`. */
  what: z.string().optional(),
  why: z.string().nullable().optional(),
  /** At `full` only. */
  correct: z.string().nullable().optional(),
  files: z.array(z.string()).optional(),
  key: z.string().optional(),
  subjectId: z.string().nullable().optional(),
  runId: z.string().nullable().optional(),
  by: Actor.optional(),
  /** How well it fits the words, from 0 to 1. Absent in a list without words. */
  score: z.number().optional(),
});
export type TraceView = z.infer<typeof TraceView>;

export const TracePage = z.object({
  traces: z.array(TraceView),
  /** Gives the next page; null at the end. */
  cursor: z.string().nullable(),
  /** About how many tokens the traces of this page have. */
  tokens: z.number().int(),
});
export type TracePage = z.infer<typeof TracePage>;

/** What happened again and again, with what it asks for. */
export const PatternView = Pattern.pick({
  id: true,
  key: true,
  type: true,
  source: true,
  count: true,
  runs: true,
  traceIds: true,
  example: true,
  firstAt: true,
  lastAt: true,
}).extend({
  /** What the engine makes of it, where it can. */
  suggests: z.enum(['guard or lesson', 'lesson', 'nothing']),
  /** The lesson that came of it, such as L7. */
  lesson: z.string().nullable().default(null),
});
export type PatternView = z.infer<typeof PatternView>;
