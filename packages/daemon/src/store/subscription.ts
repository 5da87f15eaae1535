import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type LoggedEvent } from '@tidemill/contract';
import type { EventFilter } from '../ports.ts';
import type { Reads } from './driver.ts';

const PAGE = 500;
const AGAIN_MS = 500;

/** A flag that can be awaited, so that a wake-up between two reads is not lost. */
class Bell {
  #rung = false;
  #ring: (() => void) | null = null;
  readonly ring = (): void => {
    this.#rung = true;
    this.#ring?.();
  };
  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#ring = resolve));
    this.#ring = null;
    this.#rung = false;
  }
}

interface Page {
  head: number;
  page: LoggedEvent[];
}

async function readPage(reads: Reads, cursor: number, filter: EventFilter): Promise<Page> {
  const head = await reads.lastSeq();
  if (head <= cursor) return { head, page: [] };
  return { head, page: await reads.events({ ...filter, after: cursor, upTo: head, limit: PAGE }) };
}

/** Followers wait while the store is unavailable: nothing of the log is lost. */
async function patiently(signal: AbortSignal, read: () => Promise<Page>): Promise<Page> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted) return { head: 0, page: [] };
      if (!(error instanceof AppError && error.retriable)) throw error;
      await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined); // aborted: the loop ends
    }
  }
}

/**
 * Reads the log page by page after a cursor. A wake-up only triggers a read: a lost or duplicate one does no harm, because
 * events come from the log alone. The cursor moves to the head that was read before the page, so that a sparse filter
 * does not search the same part twice.
 */
export async function* follow(
  reads: Reads,
  onWake: (ring: () => void) => () => void,
  after: number,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<LoggedEvent> {
  const bell = new Bell();
  const stopWaking = onWake(bell.ring);
  signal.addEventListener('abort', bell.ring, { once: true });
  try {
    let cursor = after;
    while (!signal.aborted) {
      const { head, page } = await patiently(signal, () => readPage(reads, cursor, filter));
      if (head <= cursor) {
        await bell.wait();
        continue;
      }
      for (const event of page) {
        if (signal.aborted) return;
        yield event;
      }
      cursor = page.length < PAGE ? head : page.at(-1)!.seq;
    }
  } finally {
    stopWaking();
    signal.removeEventListener('abort', bell.ring);
  }
}
