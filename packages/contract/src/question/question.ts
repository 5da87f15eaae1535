import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { Declarations, HilConfig, MatterContents } from '../task/autonomy.ts';
import { Duration } from '../text/duration.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

/**
 * blocking waits forever; clarifying takes its default after 4 h; confirming counts as yes after 24 h; educational is
 * dismissed after a week; celebratory is acknowledged; preference is learned from.
 */
export const QuestionType = z.enum([
  'blocking',
  'clarifying',
  'confirming',
  'educational',
  'celebratory',
  'preference',
]);
export type QuestionType = z.infer<typeof QuestionType>;

export const QuestionOption = z.object({
  label: PlainLine.min(1).max(500),
  description: PlainText.max(5_000).default(''),
  recommended: z.boolean().default(false),
  implications: PlainText.max(5_000).default(''),
});
export type QuestionOption = z.infer<typeof QuestionOption>;

const QuestionText = PlainText.trim()
  .min(1, 'a question needs a text')
  .max(20_000, 'a question has at most 20,000 characters');

/** A question as the asker writes it; a bare text is a blocking question. */
export const AskedQuestion = z.preprocess(
  (value) => (typeof value === 'string' ? { text: value } : value),
  z.object({
    text: QuestionText,
    /** The asker's own name for it. */
    id: PlainLine.max(200).nullish(),
    /** A question without a type is blocking. */
    type: QuestionType.default('blocking'),
    context: PlainText.max(20_000).default(''),
    options: z
      .array(z.preprocess((value) => (typeof value === 'string' ? { label: value } : value), QuestionOption))
      .max(20)
      .default([]),
    allowFreeText: z.boolean().default(true),
    default: PlainText.max(5_000).nullish(),
    defaultAnswer: PlainText.max(5_000).nullish(),
    defaultOption: PlainLine.max(5_000).nullish(),
    expiresAfter: Duration.optional(),
    reminderAfter: Duration.optional(),
    tags: z.array(PlainLine.max(100)).max(20).default([]),
  }),
);
export type AskedQuestion = z.infer<typeof AskedQuestion>;

/** Where a question comes from, and the id of its source. */
export const QuestionSource = z.enum(['eval', 'prd', 'plan', 'execute', 'engine', 'supervisor', 'catalogue']);
export type QuestionSource = z.infer<typeof QuestionSource>;

export const AnswerSource = z.enum(['user', 'default', 'timeout', 'learned']);
export type AnswerSource = z.infer<typeof AnswerSource>;

export const Answer = z.object({
  text: z.string(),
  /** The chosen label, if it was one of the options. */
  option: z.string().nullable(),
  source: AnswerSource,
  by: Actor,
  at: z.number(),
});
export type Answer = z.infer<typeof Answer>;

/** The effect of an answer. An approval lets work continue or sends it back; others are commands. */
export const QuestionEffect = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({
    kind: z.literal('approval'),
    matters: z.array(HilConfig.keyof()),
    sendBackTo: z.string(),
    contents: MatterContents.optional(),
    /** What the agent declared: the approval is for these decisions only. */
    declared: Declarations.optional(),
    /** The content of changed files that decide what gates check: the approval is for this content only. */
    checks: z.string().optional(),
    /** What a merge dropped of the target. Only a person can accept that, and only exactly this. */
    losses: z.array(z.string()).optional(),
    /** About its pull request: closed by hand, without any check, changed workflows. The approval is for exactly this. */
    pull: z.string().optional(),
  }),
  /** From the supervisor about a stuck task: wait, skip or retry. */
  z.object({ kind: z.literal('stuck') }),
  /** About a blocked task: any answer restarts it with that answer, except these labels, which leave it blocked. */
  z.object({ kind: z.literal('unblock'), leaves: z.array(z.string()) }),
  /** About a task without acceptance criteria: the answer becomes its criteria. `proposed` are the plan's. */
  z.object({ kind: z.literal('criteria'), proposed: z.array(z.string()) }),
  /** About a delivery: whether it may begin, or what follows when its result is unknown. Only a person may answer. */
  z.object({ kind: z.literal('delivery'), about: z.enum(['approval', 'interrupted', 'rollback']) }),
]);

export const Question = z.object({
  noun: z.literal('question'),
  id: z.string(),
  /** Its name for people: `Q7.2` is the second about task #7, `Q3` the third about the project. */
  ref: z.string().default(''),
  /** The asker's own id for it. */
  ownId: z.string().nullable().default(null),
  projectId: z.string(),
  taskId: z.string().nullable(),
  /** What it is about when that is neither a task nor the project: an idea, a specification. */
  subjectId: z.string().nullable().default(null),
  runId: z.string().nullable(),
  source: QuestionSource,
  sourceId: z.string(),
  /** Who asks: an agent's label, `engine`, `supervisor`. */
  agent: z.string(),
  stage: z.string(),
  type: QuestionType,
  text: z.string(),
  context: z.string(),
  options: z.array(QuestionOption),
  allowFreeText: z.boolean(),
  /** The answer when nobody answers; null when there is none. */
  defaultAnswer: z.string().nullable(),
  /** True when `defaultAnswer` was learned from earlier answers: shown as such. */
  isDefaultLearned: z.boolean().default(false),
  tags: z.array(z.string()),
  /** The task, or the subject, waits until this is answered. */
  holds: z.boolean(),
  /** Equal for the same question. */
  fingerprint: z.string(),
  /** Questions of the same agent and stage within 5 minutes share a batch. */
  batchId: z.string(),
  effect: QuestionEffect.default({ kind: 'none' }),
  askedAt: z.number(),
  remindAt: z.number().nullable(),
  remindEveryMs: z.number().nullable(),
  reminders: z.number().int(),
  expiresAt: z.number().nullable(),
  status: z.enum(['open', 'answered', 'dismissed', 'withdrawn']),
  answer: Answer.nullable(),
});
export type Question = z.infer<typeof Question>;

/** An earlier answer that is used for the same question until a person revokes it. */
export const Preference = z.object({
  noun: z.literal('preference'),
  id: z.string(),
  projectId: z.string(),
  fingerprint: z.string(),
  text: z.string(),
  answer: z.string(),
  count: z.number().int(),
  learnedAt: z.number(),
  /** Counted, but not used: too few equal answers so far, or revoked. */
  isActive: z.boolean(),
  /** Whether the question had options. Null: learned by an earlier version. */
  hadOptions: z.boolean().nullable().default(null),
  revokedBy: Actor.nullable().default(null),
});
export type Preference = z.infer<typeof Preference>;

export const questionKind = recordKind(Question, ({ projectId, taskId, subjectId, status, remindAt, expiresAt }) => {
  const isOpen = status === 'open';
  const due = [remindAt, expiresAt].filter((at) => at !== null);
  return {
    parent: taskId ?? subjectId ?? projectId,
    isOpen,
    dueAt: isOpen && due.length > 0 ? Math.min(...due) : null,
  };
});

export const preferenceKind = recordKind(Preference, ({ projectId, isActive }) => ({
  parent: projectId,
  isOpen: isActive,
  dueAt: null,
}));
