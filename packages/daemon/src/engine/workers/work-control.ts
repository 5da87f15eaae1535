import type { Beat } from '@tidemill/contract';
import type { Clock, ControlledProcess, ProcessControl } from '../../ports.ts';

/** Suspends, resumes and kills all processes of one leased task, whichever adapter started them. */
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

  get frozenAt(): number | null {
    return this.#frozenAt;
  }

  /** Settles when the work is not frozen. */
  moving(): Promise<void> {
    return this.#moving.promise;
  }

  /** Frozen time that was not yet added to the lease. */
  get frozenMs(): number {
    return this.#frozenMs + (this.#frozenAt === null ? 0 : Math.max(0, this.#clock.now() - this.#frozenAt));
  }

  forgetFrozen(ms: number): void {
    this.#frozenMs -= ms;
  }

  take(part: ControlledProcess): () => void {
    this.#parts.add(part);
    // Processes that start later get the same treatment.
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

  /** Suspends the processes until the engine knows whether they may continue. The engine itself continues. */
  halt(): void {
    if (this.#isHalted || this.#isKilled) return;
    this.#isHalted = true;
    for (const part of this.#parts) part.freeze();
  }

  /** Ends a halt. What a person froze stays frozen. */
  endHalt(): void {
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

  /** The current memory use, and the CPU use since the last call. */
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
