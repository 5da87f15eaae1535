import { z } from 'zod';
import { FeedbackAnalysis } from '../feedback/feedback.ts';
import { IdeaReply } from '../idea/idea.ts';
import { ProposalDraft } from '../proposal/proposal.ts';
import { AskedQuestion } from '../question/question.ts';
import { PreventionResult, ReflectionResult } from '../reflection/reflection.ts';
import { GivenSpecDraft } from '../spec/draft.ts';
import { SpecCritique, SpecJudgement } from '../spec/spec.ts';
import { Declarations } from '../task/autonomy.ts';
import { PlainText } from '../text/plain-text.ts';
import { type JobField, MODE_NAMES, type ModeName, TASK_MODES, type TaskModeName } from './modes.ts';
import { RunProgress } from './progress.ts';

/** Every mode; see MODES for what each of them is. */
export const Mode = z.enum(MODE_NAMES);
export type Mode = ModeName;
/** The modes of a pipeline's stages. */
export const TaskMode = z.enum(TASK_MODES);
export type TaskMode = TaskModeName;

export const Outcome = z.enum([
  'plan_complete',
  'investigation_complete',
  'pr_ready',
  'no_changes',
  'approved',
  'changes_requested',
  'replied',
  'spec_ready',
  'critiqued',
  'judged',
  'analysed',
  'proposed',
  'no_idea',
  'reflected',
  'prevented',
  'no_lesson',
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
  /** The agent returned the same code after a gate had failed on it. */
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

/** The maximum of amounts and counts: sums stop there. JSON cannot store infinity. */
export const MAX_USD = 1_000_000_000_000;
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;
/** Adds two amounts of money, or two counts. */
export const sumUsd = (one: number, other: number) => Math.min(one + other, MAX_USD);
export const sumCount = (one: number, other: number) => Math.min(one + other, MAX_COUNT);

/** A number in the store. Earlier versions had no maximum, and wrote infinity as null. */
export const storedNumber = (most: number) =>
  z.preprocess((value) => {
    if (value === null) return most;
    return typeof value === 'number' ? Math.min(value, most) : value;
  }, z.number().nonnegative());

/** What a run has used, as stored. */
export const Usage = z.object({
  inputTokens: storedNumber(MAX_COUNT).default(0),
  outputTokens: storedNumber(MAX_COUNT).default(0),
  /** Null when the cost was not reported. */
  costUsd: storedNumber(MAX_USD).nullable().default(null),
  requests: storedNumber(MAX_COUNT).default(0),
  /** The part of `costUsd` that is assumed: requests without a price, at UNKNOWN_REQUEST_USD each. */
  assumedUsd: storedNumber(MAX_USD).optional(),
});
export type Usage = z.infer<typeof Usage>;
/** The assumed cost of a request without a price: rather too high than too low. */
export const UNKNOWN_REQUEST_USD = 0.5;

const reportedCount = (most: number) => z.number().int().nonnegative().max(most).default(0);

/** Usage as agents and outside workers report it: whole counts, within what a request can use. */
export const ReportedUsage = z.object({
  inputTokens: reportedCount(1_000_000_000_000),
  outputTokens: reportedCount(1_000_000_000_000),
  costUsd: z.number().nonnegative().max(1_000_000).nullable().default(null),
  requests: reportedCount(1_000_000),
});

/** A report that cannot be read counts as one request of unknown price. */
export function readUsage(reported: unknown): Usage {
  const read = ReportedUsage.safeParse(reported);
  return read.success ? read.data : { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 1 };
}

export const CriterionVerdict = z.object({
  id: z.string(),
  met: z.boolean(),
  evidence: PlainText.default(''),
  /** Of a criterion that the reviewer derived, because the task has none. */
  text: PlainText.nullish(),
});

export const ReviewVerdict = z.object({
  criteria: z.array(CriterionVerdict).default([]),
  comments: z.array(PlainText).default([]),
});
export type ReviewVerdict = z.infer<typeof ReviewVerdict>;

/** The results of jobs. Each has the schema of its noun. */
export const JOB_RESULTS = {
  ideation: IdeaReply,
  spec: GivenSpecDraft,
  critique: SpecCritique,
  judgement: SpecJudgement,
  analysis: FeedbackAnalysis,
  proposal: ProposalDraft,
  reflection: ReflectionResult,
  prevention: PreventionResult,
} as const satisfies Record<JobField, z.ZodType>;

/** What an agent proposes. The engine decides. */
export const AgentEnvelope = z.object({
  outcome: Outcome,
  summary: PlainText.default(''),
  plan: PlainText.optional(),
  planSummary: PlainText.optional(),
  investigationSummary: PlainText.optional(),
  subtasks: z.array(PlainText).optional(),
  review: ReviewVerdict.optional(),
  /** Acceptance criteria that a plan proposes for a task without any. */
  criteria: z.array(PlainText).max(50).optional(),
  open_questions: z.array(AskedQuestion).max(50).optional(),
  /** For anyone who works on it next: what was decided, and what is known to be open. */
  decisions: z.array(PlainText).max(50).optional(),
  unresolved: z.array(PlainText).max(50).optional(),
  /** What a builder found out about this repository that others should know. It is data, and checked like every lesson. */
  discoveries: z.array(PlainText).max(50).optional(),
  /** What this work decides in each matter of autonomy, according to the agent. */
  declares: Declarations.optional(),
  ...z.object(JOB_RESULTS).partial().shape,
});
export type AgentEnvelope = z.infer<typeof AgentEnvelope>;

export const Run = z.object({
  id: z.string(),
  projectId: z.string(),
  /** What it is about: a task, or the subject of a job. */
  subjectId: z.string(),
  jobId: z.string().optional(),
  workerId: z.string(),
  stage: z.string(),
  mode: Mode,
  agent: z.string(),
  /** The number of the task's runs in this mode, including this one. */
  attempt: z.number().int(),
  status: z.enum(['running', 'finished']),
  outcome: Outcome.nullable(),
  failure: FailureClass.nullable(),
  summary: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  /** When its worker was last seen, if the worker was lost. */
  lostAt: z.number().optional(),
  usage: Usage,
  /** Times the gates sent the agent back within this run. */
  validationRetries: z.number().int(),
  progress: RunProgress.nullable(),
  /** How long successful runs of this mode took lately, as the median. Null when there were too few. */
  usualMs: z.number().nullable().default(null),
  /** The vendor's session id, so that a later run can continue it. */
  session: z.string().nullable().default(null),
  /** Reserved from the budget when it started. */
  reservedUsd: storedNumber(MAX_USD).default(0),
  /** When the vendor allows the next one, if it failed at a limit and the vendor said so. */
  retryAt: z.number().optional(),
  /** Its agent costs nothing, so it may end without reporting a request. */
  isFree: z.boolean().optional(),
  /** How long the prompt was, what was left out of it to fit, and which lessons it had. */
  briefing: z
    .object({ promptTokens: z.number(), dropped: z.array(z.string()), lessons: z.array(z.string()).default([]) })
    .nullable()
    .default(null),
});
export type Run = z.infer<typeof Run>;

/** The part of an ended run that figures need. Kept small: a month has many runs. */
export const EndedRun = Run.pick({
  id: true,
  subjectId: true,
  workerId: true,
  mode: true,
  agent: true,
  attempt: true,
  outcome: true,
  failure: true,
  startedAt: true,
}).extend({ endedAt: z.number(), costUsd: Usage.shape.costUsd });
export type EndedRun = z.infer<typeof EndedRun>;
