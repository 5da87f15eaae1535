import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

const MAX_FEEDBACK = 20_000;

export const FeedbackText = PlainText.trim()
  .min(1, 'feedback needs a text: say what you noticed and what you expected')
  .max(
    MAX_FEEDBACK,
    `feedback has at most ${MAX_FEEDBACK / 1000},000 characters: name the files instead of pasting them`,
  );

/** What a piece of feedback is. The first three become tasks; a question is answered. */
export const FeedbackKind = z.enum(['bug', 'feature', 'change', 'question']);
export type FeedbackKind = z.infer<typeof FeedbackKind>;

const RepositoryFile = z
  .string()
  .min(1)
  .max(500)
  .refine((file) => !/^([/\\~]|[A-Za-z]:)/.test(file) && !file.split(/[/\\]/).includes('..'), {
    error: ({ input }) => `"${String(input).slice(0, 100)}" is not a path inside the repository`,
  });

/** What an analyst makes of a piece of feedback. */
export const FeedbackAnalysis = z
  .object({
    kind: FeedbackKind,
    /** The task's title, or the question in a few words. */
    title: PlainLine.min(1, 'needs a title').max(300),
    /** What is to be done, for anyone who builds it. */
    body: PlainText.max(20_000).default(''),
    /** How one sees that it is done. */
    criteria: z.array(PlainText.trim().min(1).max(2_000)).max(20).default([]),
    files: z.array(RepositoryFile).max(50).default([]),
    /** The number of the task it is about. */
    linkedTask: z.number().int().positive().nullish(),
    /** The number of the specification it is about. */
    linkedSpec: z.number().int().positive().nullish(),
    /** Of a question. */
    answer: PlainText.max(20_000).nullish(),
    /** How sure the analyst is of the kind. */
    confidence: z.number().min(0).max(1).default(0.5),
  })
  .refine(({ kind, answer }) => kind !== 'question' || (answer ?? '').trim() !== '', {
    path: ['answer'],
    error: 'a question needs its answer',
  })
  .refine(({ kind, criteria }) => kind === 'question' || criteria.length > 0, {
    path: ['criteria'],
    error: 'a task needs at least one criterion that can be tested',
  });
export type FeedbackAnalysis = z.infer<typeof FeedbackAnalysis>;

/**
 *   open ──analysed──▶ filed          (a task, or an answer)
 *    │ ▲
 *    │ └─answered── asking            (one round per piece of feedback)
 *    └──▶ failed ──retried──▶ open    dismissed: a person does not want it
 */
export const FeedbackItem = z.object({
  noun: z.literal('feedback'),
  id: z.string(),
  projectId: z.string(),
  number: z.number().int(),
  text: z.string(),
  by: Actor,
  at: z.number(),
  status: z.enum(['open', 'asking', 'filed', 'dismissed', 'failed']),
  /** The newest analysis job, if there is one. */
  jobId: z.string().nullable(),
  /** How often the person was asked about it. */
  rounds: z.number().int(),
  analysis: FeedbackAnalysis.nullable(),
  /** The task it became. */
  taskNumber: z.number().int().nullable(),
  /** The task and the specification it is about; only those that exist. */
  linkedTask: z.number().int().nullable(),
  linkedSpec: z.number().int().nullable(),
  /** Why it failed or was dismissed. */
  why: z.string(),
  endedAt: z.number().nullable(),
});
export type FeedbackItem = z.infer<typeof FeedbackItem>;

export const feedbackKind = recordKind(FeedbackItem, ({ projectId, status }) => ({
  parent: projectId,
  isOpen: status === 'open' || status === 'asking',
  dueAt: null,
}));
