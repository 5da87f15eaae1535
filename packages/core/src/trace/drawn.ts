import type { Actor, TraceDraft, TraceSource, TraceType } from '@tidemill/contract';

/** What an event says as a trace, without what all traces of events have: subject, task, run, agent. */
export type Drawn = Pick<TraceDraft, 'type' | 'source' | 'key' | 'what' | 'correct' | 'why' | 'files'> & {
  /** Null: anyone who acted in the event's run, or the engine. */
  by: Actor | null;
};

export const drawn = (
  type: TraceType,
  source: TraceSource,
  key: string,
  what: string,
  more: Partial<Drawn> = {},
): Drawn => ({ type, source, key, what, correct: null, why: null, files: [], by: null, ...more });
