import type { Clock, CommandWatch, RunningCommand } from '../../ports.ts';

/**
 * The project's own commands that run for one leased work: gates and prepare steps. Each has its own time limit, which
 * ends it. Until then its silence is no sign of trouble.
 */
export class CommandSigns implements CommandWatch {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onOutput: () => void;
  readonly #deadlines = new Map<object, number>();

  constructor(clock: Pick<Clock, 'now'>, onOutput: () => void) {
    this.#clock = clock;
    this.#onOutput = onOutput;
  }

  begin(limitMs: number): RunningCommand {
    const key = {};
    this.#deadlines.set(key, this.#clock.now() + limitMs);
    return {
      output: () => this.#onOutput(),
      end: () => {
        if (this.#deadlines.delete(key)) this.#onOutput();
      },
    };
  }

  /** Up to this time silence is expected; null when no command runs. */
  get silentUntil(): number | null {
    return this.#deadlines.size === 0 ? null : Math.max(...this.#deadlines.values());
  }

  /** The time limits stood still for this long. */
  extend(ms: number): void {
    for (const [key, deadline] of this.#deadlines) this.#deadlines.set(key, deadline + ms);
  }
}
