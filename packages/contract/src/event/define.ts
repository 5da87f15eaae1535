import { z } from 'zod';
import type { Actor } from '../access/actor.ts';

/** An event in words: who, and what they did. Surfaces show its task next to it. */
export interface EventText {
  who: string;
  text: string;
}

/** An API query that the page caches, by the first part of its key. Status and tasks are pushed. */
export type Reading = string;

/** Who sees an event: `terminal` all followers, `page` readers of the feed, `log` readers of everything. */
export type Audience = 'terminal' | 'page' | 'log';

/** What an event means outside of core. */
export interface Meaning<Body> {
  /** Queries that may be out of date after it. */
  stale?: readonly Reading[];
  /** Changes nothing that needs a reaction. */
  isSignOfLife?: true;
  /** Does not change the summary of its task. */
  leavesSummary?: true;
  /** Default: `page`. */
  shown?: Audience | ((body: Body) => Audience);
  says(body: Body): EventText;
}

/**
 * Facts, in the past tense. An event carries all that `reduce` needs, so that a replay of the log gives the same rows.
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

/** The fields of an event about a run or a lease: its subject, and the job if it belongs to one. */
export const ofSubject = { subjectId: z.string(), jobId: z.string().optional() };

/** The actor of events without another actor. */
export const MILL = 'Tidemill';

export const said = (who: string | Actor, text: string): EventText => ({
  who: (typeof who === 'string' ? who : who.name) || 'somebody',
  text,
});
export const mill = (text: string): EventText => ({ who: MILL, text });
export const spaced = (name: string) => name.replaceAll('_', ' ');
export const usd = (amount: number) => `$${amount.toFixed(2)}`;
export const because = (why: string) => (why ? `, ${spaced(why)}` : '');
export const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
