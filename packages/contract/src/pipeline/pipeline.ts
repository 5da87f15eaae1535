import { z } from 'zod';
import { Outcome, TaskMode } from '../run/run.ts';

/** `open` starts every pipeline; `done` and `cancelled` end it; the others park a task until a person acts. */
export const RESERVED_STAGES = ['open', 'done', 'cancelled', 'needs_info', 'blocked'] as const;

const on = z.partialRecord(Outcome, z.string());

export const AgentStage = z.strictObject({ actor: z.literal('agent'), mode: TaskMode, on });
export const VerifyStage = z.strictObject({
  actor: z.literal('system'),
  does: z.literal('verify'),
  /** Gates that must pass here; all of the project's when left out. */
  gates: z.array(z.string()).optional(),
  on: z.strictObject({ approved: z.string(), failed: z.string() }),
});
export const MergeStage = z.strictObject({
  actor: z.literal('system'),
  does: z.literal('merge'),
  on: z.strictObject({ approved: z.string(), failed: z.string(), conflicts_detected: z.string() }),
});
export const HumanStage = z.strictObject({
  actor: z.literal('human'),
  /** A stage with this flag is skipped as approved unless the project requires plan reviews. */
  onlyIfPlansAreReviewed: z.boolean().default(false),
  on: z.strictObject({ approved: z.string(), changes_requested: z.string() }),
});
export const Stage = z.union([AgentStage, VerifyStage, MergeStage, HumanStage]);
export type Stage = z.infer<typeof Stage>;

export const Pipeline = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]*$/, 'a pipeline name is lower-case letters, digits, - and _'),
  description: z.string().default(''),
  /** The stage a task enters when a worker first claims it. */
  start: z.string(),
  stages: z.record(z.string(), Stage),
});
export type Pipeline = z.infer<typeof Pipeline>;
