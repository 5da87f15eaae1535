import { SUPERSEDING, SupersededEvents } from '@tidemill/core';
import type { Clock, Store } from '../../ports.ts';

/** The part of the log that one query searches, so that other work gets a turn in between. */
const STRETCH = 20_000;
const PAGE = 500;

/**
 * The superseded events of a project from before `expiry`, in pages, the newest first. The whole log is searched, because
 * later events decide whether an earlier one is superseded.
 */
export async function* oldEvents(
  store: Store,
  clock: Clock,
  { projectId, expiry, signal }: { projectId: string; expiry: number; signal?: AbortSignal },
): AsyncGenerator<number[]> {
  const superseded = new SupersededEvents();
  for (let upTo = await store.lastSeq(); upTo > 0; ) {
    const after = Math.max(0, upTo - STRETCH);
    const query = { projectId, types: [...SUPERSEDING], after, upTo, newestFirst: true, limit: PAGE };
    const events = await store.events(query);
    const old = events.filter(({ at, body }) => superseded.isSuperseded(body) && at < expiry);
    if (old.length > 0) yield old.map(({ seq }) => seq);
    upTo = events.length < PAGE ? after : events.at(-1)!.seq - 1;
    signal?.throwIfAborted();
    await clock.sleep(1);
  }
}
