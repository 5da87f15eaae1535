import { z } from 'zod';
import { NewTask } from '../task/task.ts';
import { PlainText } from '../text/plain-text.ts';

/** A mark of the tool that asks, repeated in the answer. */
const id = z.string().max(100).optional();
const task = z.number().int().positive().max(1_000_000_000);

/** The content of `.claude-sessions/NAME.request.json`: what another program asks of the worker NAME. */
export const SessionRequest = z.discriminatedUnion('request', [
  /** The task is for this worker, which takes it when it is free. */
  z.strictObject({ request: z.literal('start'), task, id }),
  z.strictObject({
    request: z.literal('create'),
    title: NewTask.shape.title,
    body: NewTask.shape.body,
    accept: NewTask.shape.accept,
    id,
  }),
  /** A note for the next run of the worker's task, or of the named one. */
  z.strictObject({ request: z.literal('message'), text: PlainText.trim().min(1).max(2000), task: task.optional(), id }),
  z.strictObject({ request: z.enum(['pause', 'resume', 'stop']), id }),
]);
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The content of `.claude-sessions/NAME.answer.json`: what became of the last request. */
export const SessionAnswer = z.object({
  agentId: z.string(),
  /** Null when the request was not readable. */
  request: z.string().nullable(),
  id: z.string().optional(),
  ok: z.boolean(),
  text: z.string(),
  /** What to do after a refusal. */
  hint: z.string(),
  at: z.iso.datetime(),
});
export type SessionAnswer = z.infer<typeof SessionAnswer>;
