import { z } from 'zod';
import { by, flag, get, post, project, task } from '../api/route.ts';
import { QuestionView } from '../task/view.ts';
import { Preference } from './question.ts';

/** `Q7.1`, `7.1`, `#7` for a task's only open question, an id, or the end of one. */
const question = z.string().trim().min(1).max(300);

export const questionRoutes = {
  questions: get(
    '/v1/projects/:project/questions',
    'Open questions, or all questions',
    z.strictObject({ project, all: flag(), task: task.optional() }),
    z.array(QuestionView),
  ),
  question: get(
    '/v1/projects/:project/questions/:question',
    'A question, with the change it is about',
    z.strictObject({ project, question }),
    z.object({ question: QuestionView, diff: z.string() }),
  ),
  answerQuestion: post(
    '/v1/projects/:project/questions/:question/answer',
    'Answers a question by text, by the number of an option, or by its default',
    z.strictObject({
      project,
      question,
      by,
      text: z.string().optional(),
      /** The number of one of its options, starting at 1. */
      option: z.number().int().positive().optional(),
      useDefault: z.boolean().default(false),
    }),
    QuestionView,
    { decides: true },
  ),
  answerDefaults: post(
    '/v1/projects/:project/answer-defaults',
    'Answers every open question that has a default with it',
    z.strictObject({ project, by }),
    z.object({ answered: z.array(QuestionView), left: z.array(QuestionView) }),
    { decides: true },
  ),
  preferences: get(
    '/v1/projects/:project/preferences',
    'Learned defaults',
    z.strictObject({ project, all: flag() }),
    z.array(Preference),
  ),
  revokePreference: post(
    '/v1/projects/:project/preferences/revoke',
    'Revokes a learned default',
    z.strictObject({ project, by, preference: z.string().min(1).max(300) }),
    Preference,
    { decides: true },
  ),
};
