import { z } from 'zod';
import { EVENTS } from '../nouns.ts';
import type { Audience, EventText, Meaning, Reading } from './define.ts';

export { EmergencyOperation, SupervisorAction } from '../worker/events.ts';
export { type EventText, MILL, type Reading } from './define.ts';
export { eventToday, rowToday, storedTypes } from './earlier.ts';

type Schemas<E extends readonly { schema: unknown }[]> = { [I in keyof E]: E[I]['schema'] };

export const EventBody = z.discriminatedUnion(
  'type',
  EVENTS.map(({ schema }) => schema) as unknown as Schemas<typeof EVENTS>,
);
export type EventBody = z.infer<typeof EventBody>;
export type EventType = EventBody['type'];

const MEANINGS = new Map<EventType, Meaning<EventBody>>(
  EVENTS.map(({ type, meaning }) => [type, meaning as Meaning<EventBody>]),
);
const meaningOf = (type: EventType): Meaning<EventBody> => MEANINGS.get(type)!;

/** The event in words. */
export const describeEvent = (body: EventBody): EventText => meaningOf(body.type).says(body);

/** Its audience. */
export function shownTo(body: EventBody): Audience {
  const { shown = 'page' } = meaningOf(body.type);
  return typeof shown === 'function' ? shown(body) : shown;
}

/** API queries that may be out of date after an event of this type. */
export const staleAfter = (type: EventType): readonly Reading[] => meaningOf(type).stale ?? [];

export const isSignOfLife = (type: EventType): boolean => meaningOf(type).isSignOfLife === true;

/** Whether it may change the summary of its task. */
export const changesSummary = (type: EventType): boolean => meaningOf(type).leavesSummary !== true;

/** An event with its position: `seq` is the cursor of every stream, in commit order. Removed events leave gaps. */
export interface LoggedEvent {
  seq: number;
  projectId: string;
  at: number;
  /** Schema version of the body. */
  v: number;
  body: EventBody;
}
export const EventLine: z.ZodType<LoggedEvent> = z.object({
  seq: z.number(),
  projectId: z.string(),
  at: z.number(),
  v: z.number(),
  body: EventBody,
});
export const EVENT_VERSION = 2;

/** What an event is about: a task, or another subject; null for events about the daemon or the whole project. */
export function subjectIdOf(body: EventBody): string | null {
  if (body.type === 'evidence.recorded') return body.evidence.taskId;
  if ('subjectId' in body) return body.subjectId;
  return 'taskId' in body ? (body.taskId ?? null) : null;
}

/** The task that an event is about; null when it is about something else. */
export function taskIdOf(body: EventBody): string | null {
  const id = subjectIdOf(body);
  return id?.startsWith('task_') ? id : null;
}
