import type { Clock } from '../../packages/daemon/src/ports.ts';

interface Timer {
  at: number;
  order: number;
  fire(): void;
  isDead: boolean;
}

/**
 * Time that passes only when all code waits. `now` may jump, like a wall clock; sleepers use a steady time, like
 * timers.
 */
export class VirtualClock implements Clock {
  #steady = 0;
  #offset = Date.UTC(2026, 0, 1);
  #order = 0;
  readonly #heap: Timer[] = [];

  now(): number {
    return this.#steady + this.#offset;
  }
  /** Steady milliseconds since the simulation began. */
  elapsed(): number {
    return this.#steady;
  }
  jump(ms: number): void {
    this.#offset += ms;
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = { at: this.#steady + Math.max(0, ms), order: this.#order++, fire: resolve, isDead: false };
      this.#push(timer);
      signal?.addEventListener(
        'abort',
        () => {
          timer.isDead = true;
          resolve();
        },
        { once: true },
      );
    });
  }
  /** Runs everything that can run now, then moves to the next timer. False when no timer is left. */
  async step(until: number): Promise<boolean> {
    await settle();
    let timer = this.#pop();
    while (timer?.isDead) timer = this.#pop();
    if (!timer) return false;
    if (timer.at > until) {
      this.#push(timer);
      this.#steady = until;
      return false;
    }
    this.#steady = Math.max(this.#steady, timer.at);
    timer.fire();
    return true;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let i = heap.push(timer) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(heap[i]!, heap[parent]!)) return;
      [heap[i], heap[parent]] = [heap[parent]!, heap[i]!];
      i = parent;
    }
  }
  #pop(): Timer | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    heap[0] = last;
    for (let i = 0; ; ) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right;
      if (least === i) return top;
      [heap[i], heap[least]] = [heap[least]!, heap[i]!];
      i = least;
    }
  }
}

const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** After this, every promise and batch that does not wait for virtual time has settled. */
async function settle(): Promise<void> {
  for (let i = 0; i < 2; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
