import type { EventBody } from '@tidemill/contract';
import { reductions } from './nouns.ts';
import type { Slice } from './slice.ts';

/** Applies one event to the rows. It is the only projection: stores save its changes, doctor replays it. */
export function reduce(slice: Slice, projectId: string, at: number, body: EventBody): void {
  for (const reduction of reductions.get(body.type) ?? []) reduction(slice, body, { projectId, at });
}
