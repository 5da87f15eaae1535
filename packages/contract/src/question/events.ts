import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, MILL, mill, said } from '../event/define.ts';
import { Answer, Question } from './question.ts';

/** Every page that shows questions. */
const stale = ['inbox', 'questions', 'task', 'ideas', 'idea', 'specs', 'spec', 'feedback'] as const;

export const questionEvents = [
  event(
    'question.asked',
    { taskId: z.string().nullable(), question: Question },
    {
      stale,
      shown: 'terminal',
      says: ({ question: { ref, agent, source, type, text } }) =>
        said(source === 'engine' || source === 'catalogue' ? MILL : agent, `asks ${ref} (${type}): ${text}`),
    },
  ),
  event(
    'question.answered',
    { taskId: z.string().nullable(), questionId: z.string(), answer: Answer },
    {
      stale,
      shown: 'terminal',
      says: ({ answer: { by, source, text } }) =>
        said(by, `answered${source === 'user' ? '' : ` (${source})`}: ${text}`),
    },
  ),
  /** It was asked as one that can wait, but now the agent cannot continue without an answer. */
  event(
    'question.held',
    { taskId: z.string(), questionId: z.string(), text: z.string() },
    {
      stale,
      says: ({ text }) => said('agent', `cannot continue without an answer: ${text}`),
    },
  ),
  event(
    'question.reminded',
    {
      taskId: z.string().nullable(),
      questionId: z.string(),
      remindAt: z.number().nullable(),
    },
    { stale, shown: 'log', says: () => mill('sent a reminder of a question') },
  ),
  /** No answer is needed any more: it expired, or its task ended. */
  event(
    'question.closed',
    {
      taskId: z.string().nullable(),
      questionId: z.string(),
      status: z.enum(['dismissed', 'withdrawn']),
      why: z.string(),
    },
    { stale, says: ({ status, why }) => mill(`question ${status}: ${why}`) },
  ),
  event(
    'preference.learned',
    {
      preferenceId: z.string(),
      fingerprint: z.string(),
      text: z.string(),
      answer: z.string(),
      count: z.number(),
      isActive: z.boolean(),
      hadOptions: z.boolean().nullable().default(null),
    },
    {
      stale: ['preferences'],
      says: ({ isActive, text, answer }) =>
        mill(isActive ? `learned the default "${answer}" for "${text}"` : `counted an answer to "${text}"`),
    },
  ),
  event(
    'preference.revoked',
    { preferenceId: z.string(), by: Actor },
    { stale: ['preferences'], says: ({ by }) => said(by, 'revoked a learned default') },
  ),
] as const;
