import { z } from 'zod';
import { QuestionView } from '../task/view.ts';
import { FeedbackItem } from './feedback.ts';

/** What became of a piece of feedback. */
export const FeedbackDetail = z.object({
  feedback: FeedbackItem,
  /** What was asked about it, and what was answered. */
  questions: z.array(QuestionView),
  /** The task it became. */
  task: z.object({ number: z.number().int(), title: z.string(), stage: z.string() }).nullable(),
});
export type FeedbackDetail = z.infer<typeof FeedbackDetail>;
