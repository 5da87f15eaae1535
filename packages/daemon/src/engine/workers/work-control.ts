import type { Beat } from '@tidemill/contract';
import type { Clock, ControlledProcess, ProcessControl } from '../../ports.ts';

/** The processes that run for one held task, whichever adapter started them: stood still, let go on, or ended at once. */
export class WorkControl implements ProcessControl {
  readonly #parts = new Set<ControlledProcess>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #cpuMs = new WeakMap<ControlledProcess, number>();
  #measuredAt: number;
  #frozenAt: number | null = null;
  #frozenMs = 0;
  #isKilled = false;
  #isHalted = false;
  #moving = Promise.withResolvers<void>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#measuredAt = clock.now();
    this.#moving.resolve();
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== null;
  }

  /** Settles when it may move: at once, unless it is frozen. */
  moving(): Promise<void> {
    return this.#moving.promise;
  }

  /** Time stood still that nobody has taken into account yet. */
  get frozenMs(): number {
    return this.#frozenMs + (this.#frozenAt === null ? 0 : Math.max(0, this.#clock.now() - this.#frozenAt));
  }

  forgetFrozen(ms: number): void {
    this.#frozenMs -= ms;
  }

  take(part: ControlledProcess): () => void {
    this.#parts.add(part);
    // What begins after the word was given hears it too.
    if (this.#isKilled) part.kill();
    else if (this.isFrozen || this.#isHalted) part.freeze();
    return () => void this.#parts.delete(part);
  }

  freeze(): void {
    if (this.#frozenAt !== null || this.#isKilled) return;
    this.#frozenAt = this.#clock.now();
    this.#moving = Promise.withResolvers();
    for (const part of this.#parts) part.freeze();
  }

  thaw(): void {
    if (this.#frozenAt === null) return;
    this.#frozenMs = this.frozenMs;
    this.#frozenAt = null;
    if (!this.#isHalted) for (const part of this.#parts) part.thaw();
    this.#moving.resolve();
  }

  /** Stands the processes still for a moment, until it is known whether they may go on. The engine itself goes on. */
  halt(): void {
    if (this.#isHalted || this.#isKilled) return;
    this.#isHalted = true;
    for (const part of this.#parts) part.freeze();
  }

  /** Ends a halt. What a person froze stays frozen. */
  goOn(): void {
    if (!this.#isHalted) return;
    this.#isHalted = false;
    if (!this.isFrozen && !this.#isKilled) for (const part of this.#parts) part.thaw();
  }

  kill(): void {
    this.#isKilled = true;
    this.#isHalted = false;
    this.#frozenMs = this.frozenMs;
    this.#frozenAt = null;
    for (const part of this.#parts) part.kill();
    this.#moving.resolve();
  }

  /** What the processes take now, the processor's part since this was last asked. */
  async use(): Promise<Omit<Beat, 'at'>> {
    const now = this.#clock.now();
    const elapsedMs = now - this.#measuredAt;
    this.#measuredAt = now;
    let memoryMb = 0;
    let cpuMs = 0;
    for (const part of [...this.#parts]) {
      const used = await part.usage();
      memoryMb += used.memoryMb;
      cpuMs += Math.max(0, used.cpuMs - (this.#cpuMs.get(part) ?? 0));
      this.#cpuMs.set(part, used.cpuMs);
    }
    const cpuPercent = elapsedMs > 0 ? (100 * cpuMs) / elapsedMs : 0;
    return { memoryMb: Math.round(memoryMb), cpuPercent: Math.round(cpuPercent * 10) / 10 };
  }
}
