import { z } from 'zod';
import { QuestionView } from '../task/view.ts';
import { Idea, IdeaMessage } from './idea.ts';

/** A line of the list. */
export const IdeaSummary = Idea.pick({
  id: true,
  number: true,
  title: true,
  slug: true,
  status: true,
  phase: true,
  confidence: true,
  messageCount: true,
  failure: true,
  changedAt: true,
}).extend({
  isReplying: z.boolean(),
  /** Questions about it that wait for a person. */
  questions: z.number().int(),
});
export type IdeaSummary = z.infer<typeof IdeaSummary>;

export const IdeaFile = z.object({ name: z.string(), text: z.string() });

/** An idea as a chat shows it. */
export const IdeaDetail = z.object({
  idea: Idea,
  /** The newest messages, the oldest of them first. */
  messages: z.array(IdeaMessage),
  /** Open questions about it. */
  questions: z.array(QuestionView),
  /** The run that writes the next reply; null before it starts. */
  runId: z.string().nullable(),
  /** Whether somebody works on this project now: without it, nobody replies. */
  isRunning: z.boolean(),
  lastSeq: z.number(),
});
export type IdeaDetail = z.infer<typeof IdeaDetail>;
