import type { ControlledProcess } from '../ports.ts';

/** A time limit that pauses while its process is suspended. `leftMs` is the remaining time. */
export class TimeLimit implements ControlledProcess {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | null = null;
  #leftMs: number;
  #since = 0;

  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#leftMs = ms;
    this.#run();
  }

  get leftMs(): number {
    return this.#timer ? this.#leftMs - (performance.now() - this.#since) : this.#leftMs;
  }

  freeze(): void {
    if (!this.#timer) return;
    this.#leftMs = this.leftMs;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  thaw(): void {
    if (!this.#timer) this.#run();
  }

  /** Only the timer: a killed process no longer needs it. */
  kill(): void {
    this.freeze();
  }

  async usage() {
    return { memoryMb: 0, cpuMs: 0 };
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#onOver(), Math.max(0, this.#leftMs));
  }
}
