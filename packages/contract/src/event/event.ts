import { z } from 'zod';
import type { Actor } from '../actor.ts';

/** An event as a person would tell it: who, and what they did. The task it is about stands beside it. */
export interface EventText {
  who: string;
  text: string;
}

/** A reading of the API that the page keeps, by the first part of its key. The status and the tasks come by themselves. */
export type Reading = string;

/** Who is shown an event: `terminal` all who follow, `page` those who read the feed, `log` those who read everything. */
export type Audience = 'terminal' | 'page' | 'log';

/** What an event means outside of core. */
export interface Meaning<Body> {
  /** Readings that may be out of date after it. */
  stale?: readonly Reading[];
  /** Changes nothing that anybody could act on. */
  isSignOfLife?: true;
  /** Changes nothing that the summary of its task shows. */
  leavesSummary?: true;
  /** `page` where nothing is said. */
  shown?: Audience | ((body: Body) => Audience);
  says(body: Body): EventText;
}

/**
 * Facts, in the past tense. An event carries all that `reduce` needs, so that replaying the log gives the same rows.
 * A new field gets a default; a changed meaning gets a new type.
 */
export function event<T extends string, S extends z.ZodRawShape>(
  type: T,
  shape: S,
  meaning: Meaning<z.infer<z.ZodObject<S>> & { type: T }>,
) {
  return { type, schema: z.object({ type: z.literal(type), ...shape }), meaning };
}

/** The field of an event that is about a task. */
export const ofTask = { taskId: z.string() };

/** The fields of an event about a run or a lease: what is worked on, and the job where it is not a task's stage. */
export const ofSubject = { subjectId: z.string(), jobId: z.string().optional() };

/** The actor when nobody else is one. */
export const MILL = 'mill';

export const said = (who: string | Actor, text: string): EventText => ({
  who: (typeof who === 'string' ? who : who.name) || 'somebody',
  text,
});
export const mill = (text: string): EventText => ({ who: MILL, text });
export const spaced = (name: string) => name.replaceAll('_', ' ');
export const usd = (amount: number) => `$${amount.toFixed(2)}`;
export const because = (why: string) => (why ? `, ${spaced(why)}` : '');
export const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
