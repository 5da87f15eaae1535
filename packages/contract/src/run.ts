import { z } from 'zod';
import { HilConfig } from './autonomy.ts';
import { PlainText } from './plain-text.ts';
import { AskedQuestion } from './question.ts';

export const Mode = z.enum(['plan', 'plan_revision', 'investigate', 'implement', 'request_changes', 'review']);
export type Mode = z.infer<typeof Mode>;

export const Outcome = z.enum([
  'plan_complete',
  'investigation_complete',
  'pr_ready',
  'no_changes',
  'approved',
  'changes_requested',
  'needs_info',
  'failed',
  'conflicts_detected',
  'interrupted',
]);
export type Outcome = z.infer<typeof Outcome>;

/** Why a run failed. Infrastructure classes are retried for free; the others count. */
export const FailureClass = z.enum([
  'no_result',
  'invalid_result',
  'agent_reported',
  'validation',
  'unverified_gate',
  /** The same code again, after a gate had failed on it. */
  'no_progress',
  'crash',
  'network',
  'rate_limit',
  'overloaded',
  'auth',
  'credit',
  'context_too_long',
  'refused',
  'turn_limit',
  'budget_limit',
  'spawn',
  'timeout',
  'workspace',
  'unknown',
]);
export type FailureClass = z.infer<typeof FailureClass>;

export const Usage = z.object({
  inputTokens: z.number().nonnegative().default(0),
  outputTokens: z.number().nonnegative().default(0),
  /** Null when nobody said what it cost. */
  costUsd: z.number().nonnegative().nullable().default(null),
  requests: z.number().int().nonnegative().default(0),
  /** The part of `costUsd` that nobody told: requests without a price, at UNKNOWN_REQUEST_USD each. */
  assumedUsd: z.number().nonnegative().optional(),
});
/** What a request counts when nobody says what it cost: too much rather than too little. */
export const UNKNOWN_REQUEST_USD = 0.5;

export type Usage = z.infer<typeof Usage>;

export const CriterionVerdict = z.object({
  id: z.string(),
  met: z.boolean(),
  evidence: PlainText.default(''),
});

export const ReviewVerdict = z.object({
  criteria: z.array(CriterionVerdict).default([]),
  comments: z.array(PlainText).default([]),
});
export type ReviewVerdict = z.infer<typeof ReviewVerdict>;

/** What an agent proposes. The engine decides what becomes of it. */
export const AgentEnvelope = z.object({
  outcome: Outcome,
  summary: PlainText.default(''),
  plan: PlainText.optional(),
  planSummary: PlainText.optional(),
  investigationSummary: PlainText.optional(),
  subtasks: z.array(PlainText).optional(),
  review: ReviewVerdict.optional(),
  open_questions: z.array(AskedQuestion).max(50).optional(),
  /** Matters a person may want to decide that this work touches, as the agent sees it. */
  declares: z.array(HilConfig.keyof()).optional(),
});
export type AgentEnvelope = z.infer<typeof AgentEnvelope>;

export const Run = z.object({
  id: z.string(),
  projectId: z.string(),
  taskId: z.string(),
  workerId: z.string(),
  stage: z.string(),
  mode: Mode,
  agent: z.string(),
  /** How many runs this task has had in this mode, this one included. */
  attempt: z.number().int(),
  status: z.enum(['running', 'finished']),
  outcome: Outcome.nullable(),
  failure: FailureClass.nullable(),
  summary: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  usage: Usage,
  /** Times the gates sent the agent back within this run. */
  validationRetries: z.number().int(),
  progress: z.object({ percent: z.number(), text: z.string() }).nullable(),
  /** The vendor's own session, so that a later run can go on with it. */
  session: z.string().nullable().default(null),
  /** Set aside for it from the budget when it began. */
  reservedUsd: z.number().default(0),
  /** How long the prompt was, and what was left out of it to fit. */
  briefing: z
    .object({ promptTokens: z.number(), dropped: z.array(z.string()) })
    .nullable()
    .default(null),
});
export type Run = z.infer<typeof Run>;

/** The part of an ended run that figures are made of: a month holds many, and each is read. */
export const EndedRun = Run.pick({
  id: true,
  taskId: true,
  workerId: true,
  mode: true,
  agent: true,
  attempt: true,
  outcome: true,
  failure: true,
  startedAt: true,
}).extend({ endedAt: z.number(), costUsd: Usage.shape.costUsd });
export type EndedRun = z.infer<typeof EndedRun>;
