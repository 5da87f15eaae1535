import type { Actor } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { analyseFeedback, dismissFeedback, fileFeedback, giveFeedback } from './feedback.ts';

export interface FeedbackCommands {
  'feedback.give': { feedbackId: string; text: string; by: Actor };
  /** Requests its analysis: as the routing says, or because a person wants it now. */
  'feedback.analyse': { feedbackId: string; by: Actor };
  /** Makes the task, or closes an answered question. `linked…`: only what exists. */
  'feedback.file': { feedbackId: string; taskId: string; linkedTask: number | null; linkedSpec: number | null };
  'feedback.dismiss': { feedbackId: string; by: Actor; why: string };
}

export const feedbackCommands: CommandParts<keyof FeedbackCommands> = {
  'feedback.give': {
    scope: ({ projectId, feedbackId }) => [look('lockedProject', projectId), look('record', feedbackId)],
    decide: giveFeedback,
  },
  'feedback.analyse': {
    scope: ({ feedbackId }) => [look('record', feedbackId)],
    decide: analyseFeedback,
  },
  'feedback.file': {
    scope: ({ projectId, feedbackId, taskId }) => [
      look('lockedProject', projectId),
      look('task', taskId),
      look('record', feedbackId),
    ],
    decide: fileFeedback,
  },
  'feedback.dismiss': {
    scope: ({ feedbackId }) => [look('record', feedbackId), look('openRecordsOf', feedbackId)],
    decide: dismissFeedback,
  },
};
