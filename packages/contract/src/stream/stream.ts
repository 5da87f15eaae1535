import { z } from 'zod';
import { EventBody, EventLine } from '../event/event.ts';
import { LogChunk, ProjectStatus, TaskSummary } from '../task/view.ts';

/**
 * What travels on the WebSocket at /v1/stream. A client opens it, subscribes, and may change its subscription at any time.
 *
 *   client ─ subscribe { project?, task?, types?, after? } ─▶  events after the cursor, then live
 *          ─ follow { run, offset } / unfollow { run }     ─▶  that run's output, live
 *   server ─ ready ─▶ events* ─▶ (behind) ─▶ events*           each with the cursor to continue from
 *
 * Nothing is skipped: a slow reader learns how far it is behind, and is finally disconnected with its cursor.
 */
export const STREAM_PATH = '/v1/stream';

const eventType = z.enum(EventBody.options.map(({ shape }) => shape.type.value));

export const StreamSubscribe = z.strictObject({
  type: z.literal('subscribe'),
  project: z.string().min(1).optional(),
  task: z.coerce.string<string | number>().min(1).optional(),
  types: z.array(eventType).optional(),
  /** Start after this cursor; without it, start now. */
  after: z.number().int().nonnegative().optional(),
  /** Also the project's status and the tasks that changed. The daemon builds them once for all readers. */
  views: z.boolean().default(false),
});
export const StreamFollow = z.strictObject({
  type: z.literal('follow'),
  run: z.string().min(1),
  offset: z.number().int().nonnegative().default(0),
});
export const StreamUnfollow = z.strictObject({ type: z.literal('unfollow'), run: z.string().min(1) });
export const StreamRequest = z.discriminatedUnion('type', [StreamSubscribe, StreamFollow, StreamUnfollow]);
export type StreamRequest = z.input<typeof StreamRequest>;

export const StreamMessage = z.discriminatedUnion('type', [
  /** The subscription is active; later events come after this cursor. */
  z.object({ type: z.literal('ready'), cursor: z.number() }),
  /** In order. `cursor` may be after the last of them, because filtered events count too. */
  z.object({ type: z.literal('events'), cursor: z.number(), events: z.array(EventLine) }),
  z.object({ type: z.literal('status'), status: ProjectStatus }),
  /** Tasks as they are now. */
  z.object({ type: z.literal('tasks'), project: z.string(), tasks: z.array(TaskSummary) }),
  z.object({ type: z.literal('log'), run: z.string(), chunk: LogChunk, isOver: z.boolean() }),
  /** The reader is slow: the number of waiting events. Zero when it has caught up. */
  z.object({ type: z.literal('behind'), events: z.number() }),
  /** A request was refused; the connection stays open. */
  z.object({ type: z.literal('refused'), code: z.string(), message: z.string(), hint: z.string() }),
]);
export type StreamMessage = z.infer<typeof StreamMessage>;

/** Why the daemon closed the connection. The codes of browsers are lower. */
export const STREAM_CLOSE = { tooSlow: 4008, stopping: 4001, unauthorized: 4401 } as const;
