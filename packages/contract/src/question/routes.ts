import { z } from 'zod';
import { by, flag, get, post, project, task } from '../api/route.ts';
import { ChannelView } from '../channel/channel.ts';
import { InboxItem } from '../inbox/inbox.ts';
import { QuestionView } from '../task/view.ts';
import { Preference } from './question.ts';

/** `Q7.1`, `7.1`, `#7` for a task's only open question, an id, or the end of one. */
const question = z.string().trim().min(1).max(300);

/** Questions to people, and notifications. */
export const peopleRoutes = {
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
  inbox: get(
    '/v1/projects/:project/inbox',
    'Everything that waits for a person, the most urgent first',
    z.strictObject({ project }),
    z.array(InboxItem),
  ),
  acknowledge: post(
    '/v1/projects/:project/inbox/acknowledge',
    'Acknowledges an alert, or all of them',
    /** `ref` as the inbox shows it, or an id. */
    z.strictObject({ project, by, ref: z.string().min(1).optional() }),
    z.object({ acknowledged: z.number().int() }),
    { decides: true },
  ),
  actOnAlert: post(
    '/v1/projects/:project/inbox/act',
    'Does what an alert proposes: restarts its worker, adds a repair task, …',
    /** `ref` as the inbox shows it, or an id; `action` as the inbox lists it. */
    z.strictObject({ project, by, ref: z.string().min(1), action: z.string().min(1) }),
    /** What happened, in a sentence. */
    z.object({ done: z.string() }),
    { decides: true },
  ),
  channels: get(
    '/v1/projects/:project/channels',
    'The channels, and the undelivered messages of each',
    z.strictObject({ project }),
    z.array(ChannelView),
  ),
  testChannel: post(
    '/v1/projects/:project/channels/:channel/test',
    'Sends a test message',
    z.strictObject({ project, channel: z.string().min(1) }),
    z.object({ sent: z.literal(true), reference: z.string().nullable() }),
    { decides: true },
  ),
};
