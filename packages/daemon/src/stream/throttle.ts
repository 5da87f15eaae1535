/**
 * Work that many ask for and that is done for all at once: at once after a silence, else when the gap since the last time
 * is over. Never twice at the same time; what is asked for meanwhile is done once more afterwards.
 */
export class Throttle {
  readonly #work: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #rest: number;
  #timer: NodeJS.Timeout | null = null;
  #dueAt = Number.POSITIVE_INFINITY;
  #startedAt = Number.MIN_SAFE_INTEGER;
  #endedAt = Number.MIN_SAFE_INTEGER;
  #running: Promise<void> | null = null;
  #gapMs: number | null = null;
  #isStopped = false;

  /** With `rest` 4, work that takes long is followed by a pause four times as long: it gets a fifth of the time at most. */
  constructor(work: () => Promise<void>, onError: (error: unknown) => void, rest = 0) {
    this.#work = work;
    this.#onError = onError;
    this.#rest = rest;
  }

  ring(gapMs: number): void {
    if (this.#isStopped) return;
    if (this.#running) {
      this.#gapMs = Math.min(gapMs, this.#gapMs ?? gapMs);
      return;
    }
    const pauseMs = (this.#endedAt - this.#startedAt) * this.#rest;
    const dueAt = Math.max(this.#startedAt + gapMs, this.#endedAt + pauseMs);
    if (this.#timer && this.#dueAt <= dueAt) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, dueAt - performance.now()));
  }

  /** Settles when work under way is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  #run(): void {
    this.#timer = null;
    this.#gapMs = null;
    this.#startedAt = performance.now();
    this.#running = this.#work()
      .catch((error: unknown) => {
        if (!this.#isStopped) this.#onError(error);
      })
      .finally(() => {
        this.#running = null;
        this.#endedAt = performance.now();
        if (this.#gapMs !== null) this.ring(this.#gapMs);
      });
  }
}
