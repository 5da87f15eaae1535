import type { Line } from './tail.ts';

/** Events may be a line or a book. */
export const PAGE_BYTES = 512 * 1024;
const FIRST = 100;

/** How many events to read at once, by the weight of those that came before. */
export class PageSize {
  readonly #most: number;
  #events: number;

  constructor(most: number) {
    this.#most = most;
    this.#events = Math.min(most, FIRST);
  }

  get events(): number {
    return this.#events;
  }

  weigh(lines: Line[]): void {
    const bytes = lines.reduce((sum, { json }) => sum + json.length, 1);
    const fitting = Math.floor((PAGE_BYTES * lines.length) / bytes);
    // Upwards in steps: the next ones may be heavier.
    this.#events = Math.max(1, Math.min(this.#most, fitting, this.#events * 2));
  }
}
