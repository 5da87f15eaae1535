import type { LoggedEvent } from '@tidemill/contract';
import type { EventFilter } from '../ports.ts';
import type { Reads } from './driver.ts';

const PAGE = 500;

/** Something happened since the last look: a flag that can be waited for, so that a wake-up between two looks counts. */
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

/**
 * Reads the log page by page behind a cursor. Wake-ups only say "look again": a lost or doubled one changes nothing,
 * because what is delivered comes from the log alone. The cursor moves to the head that was read before the page, so a
 * sparse filter does not search the same stretch twice.
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
      const head = await reads.lastSeq();
      if (head <= cursor) {
        await bell.wait();
        continue;
      }
      const page = await reads.events({ ...filter, after: cursor, upTo: head, limit: PAGE });
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
