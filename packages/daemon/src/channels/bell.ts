import type { Clock } from '../ports.ts';

/** Something happened, or the time has come. A ring between two waits counts. */
export class Bell {
  #hasRung = false;
  #ring: () => void = () => undefined;

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#ring();
  };

  /** Until it rings, `ms` have passed, or the signal aborts. Null waits for ever. */
  async wait(clock: Clock, ms: number | null, signal: AbortSignal): Promise<void> {
    if (!this.#hasRung && !signal.aborted) {
      const over = new AbortController();
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
      });
      await Promise.race(ms === null ? [rung] : [rung, clock.sleep(Math.max(1, ms), over.signal)]);
      over.abort();
    }
    this.#ring = () => undefined;
    this.#hasRung = false;
  }
}
