import { z } from 'zod';
import { BudgetLimits } from '../budget/budget.ts';
import { EnvironmentRules } from '../delivery/config.ts';
import { RoutingChoice } from '../event-routing/choice.ts';
import { LearningConfig } from '../lesson/lesson.ts';
import { LoopConfig } from '../loop/loop.ts';
import { Pipeline } from '../pipeline/pipeline.ts';
import { SpecRules } from '../spec/config.ts';
import { AUTONOMY_PRESETS, HilConfig } from '../task/autonomy.ts';

/** The part of a project's settings that decisions depend on. It is in the log, so a replay decides the same. */
export const ProjectRules = z.object({
  target: z.string(),
  defaultPipeline: z.string(),
  /** Names of the gates a tree must have passed before it may land. */
  gates: z.array(z.string()),
  /** Each configured gate's settings as a hash: a receipt made under other settings is no evidence. */
  gateConfigs: z.record(z.string(), z.string()).optional(),
  pipelines: z.record(z.string(), Pipeline),
  reviewPlans: z.boolean(),
  /** How often the gates send an agent back within a run. Absent: the default. */
  maxValidationRetries: z.number().int().optional(),
  /** Globs of files whose conflicts only a person resolves. */
  critical: z.array(z.string()),
  /** Globs of product source. Absent: the usual places. */
  source: z.array(z.string()).optional(),
  hilConfig: HilConfig.default(AUTONOMY_PRESETS.full),
  budget: BudgetLimits.extend({ timeZone: z.string().default('UTC') }).prefault({}),
  /** What follows from an event without a person's action. Absent: the defaults. */
  routing: RoutingChoice.optional(),
  loop: LoopConfig.prefault({}),
  /** Absent: the defaults. */
  learning: LearningConfig.optional(),
  /** Absent: the defaults. */
  specs: SpecRules.optional(),
  /** The environments that landed work is delivered to, in their order. Absent: none. */
  delivery: z.array(EnvironmentRules).optional(),
});
export type ProjectRules = z.infer<typeof ProjectRules>;

export const Project = z.object({
  id: z.string(),
  name: z.string(),
  /** Where its repository is now. */
  root: z.string(),
  /** The first commit of its repository; null when it was unknown at registration. */
  firstCommit: z.string().nullable().default(null),
  createdAt: z.number(),
  nextNumber: z.number().int(),
  /** The number of the next piece of feedback. */
  nextFeedback: z.number().int().default(1),
  /** The number of the next question that is not about a task. */
  nextQuestion: z.number().int().default(1),
  nextIdea: z.number().int().default(1),
  nextDelivery: z.number().int().default(1),
  rules: ProjectRules,
  evidence: z.object({ head: z.string(), count: z.number().int() }),
});
export type Project = z.infer<typeof Project>;
