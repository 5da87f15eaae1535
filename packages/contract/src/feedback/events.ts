import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said } from '../event/define.ts';
import { FeedbackAnalysis } from './feedback.ts';

const ofFeedback = { feedbackId: z.string(), number: z.number().int() };
const stale = ['feedback', 'inbox'];

export const feedbackEvents = [
  event(
    'feedback.given',
    { ...ofFeedback, text: z.string(), by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ by, number, text }) => said(by, `gave feedback F${number}: ${beginning(text)}`),
    },
  ),
  /** A job analyses it now: the first one, one after an answer, or one after a failure. */
  event(
    'feedback.taken_up',
    { ...ofFeedback, jobId: z.string() },
    { stale, shown: 'log', says: ({ number }) => mill(`has feedback F${number} analysed`) },
  ),
  event(
    'feedback.asked',
    { ...ofFeedback, rounds: z.number().int() },
    { stale, says: ({ number }) => mill(`feedback F${number} waits for an answer`) },
  ),
  event(
    'feedback.analysed',
    { ...ofFeedback, analysis: FeedbackAnalysis },
    { stale, says: ({ number, analysis }) => mill(`feedback F${number} is a ${analysis.kind}: ${analysis.title}`) },
  ),
  event(
    'feedback.filed',
    {
      ...ofFeedback,
      taskNumber: z.number().int().nullable(),
      linkedTask: z.number().int().nullable(),
      linkedSpec: z.number().int().nullable(),
    },
    {
      stale,
      shown: 'terminal',
      says: ({ number, taskNumber }) =>
        mill(taskNumber === null ? `answered feedback F${number}` : `filed feedback F${number} as #${taskNumber}`),
    },
  ),
  event(
    'feedback.failed',
    { ...ofFeedback, why: z.string() },
    { stale, shown: 'terminal', says: ({ number, why }) => mill(`could not analyse feedback F${number}: ${why}`) },
  ),
  event(
    'feedback.dismissed',
    { ...ofFeedback, by: Actor, why: z.string() },
    { stale, says: ({ by, number, why }) => said(by, `dismissed feedback F${number}${why ? `: ${why}` : ''}`) },
  ),
] as const;

function beginning(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
