import { z } from 'zod';

/** Who passes work on or takes it. */
export const HandOffRole = z.enum([
  'person',
  'engine',
  'ideation',
  'specification',
  'initializer',
  'critic',
  'judge',
  'analyst',
  'proposer',
  'learner',
  'planner',
  'builder',
  'reviewer',
  'gates',
  'merger',
]);
export type HandOffRole = z.infer<typeof HandOffRole>;

/** What the receiver checks before it begins. */
export const Precondition = z.enum([
  /** The subject of a job still exists. */
  'subject_exists',
  /** The task is still in the stage that was handed over. */
  'in_stage',
  'plan_written',
  'work_committed',
]);
export type Precondition = z.infer<typeof Precondition>;

export const Artifact = z.object({
  kind: z.enum(['subject', 'plan', 'branch', 'tree']),
  /** An id, a branch or a hash: the receiver looks it up, so that nothing large is passed. */
  ref: z.string(),
});

/** A hand-off has at most this many tokens, as it stands in a prompt. */
export const MAX_HAND_OFF_TOKENS = 2_000;
export const MOST_RECENT_FILES = 5;

/** What remains of a role's output. The output itself stays in the run's log. */
export const Distilled = z.object({
  summary: z.string(),
  /** What was decided and must not be decided again. */
  decisions: z.array(z.string()),
  /** Known defects and open points. */
  unresolved: z.array(z.string()),
  /** The files that it worked on, at most MOST_RECENT_FILES. */
  files: z.array(z.string()),
});
export type Distilled = z.infer<typeof Distilled>;

/** What passes from one role to the next. */
export const HandOff = z.object({
  /** Equal for a repetition, which changes nothing. */
  id: z.string(),
  from: HandOffRole,
  to: HandOffRole,
  /** Where the receiver works: a task's stage, or a job's mode. */
  stage: z.string(),
  precondition: z.array(Precondition),
  artifacts: z.array(Artifact),
  successCriteria: z.array(z.string()),
  nextRole: HandOffRole.nullable(),
  /** Where the work goes when the receiver fails: a stage, or what happens to the subject. */
  rollback: z.string(),
  /** Taken up later, it counts as stale. */
  deadline: z.number(),
  distilled: Distilled.nullable(),
});
export type HandOff = z.infer<typeof HandOff>;
