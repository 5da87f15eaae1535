import type { ControlledProcess } from '../ports.ts';
import type { ProcessFamily } from './process-family.ts';
import type { TimeLimit } from './time-limit.ts';

/** Controls a child, also before it has started, so that no request is lost. */
export class ProcessHold implements ControlledProcess {
  readonly #limit: TimeLimit;
  readonly #stop: () => void;
  #family: ProcessFamily | null = null;
  #is: 'moving' | 'frozen' | 'killed' = 'moving';
  #thawed = Promise.withResolvers<null>();

  constructor(limit: TimeLimit, stop: () => void) {
    this.#limit = limit;
    this.#stop = stop;
  }

  /** Settles when the child may start: at once, unless it is frozen. */
  async mayBegin(): Promise<null> {
    return this.#is === 'frozen' ? this.#thawed.promise : null;
  }
  begin(family: ProcessFamily): void {
    this.#family = family;
    if (this.#is === 'frozen') family.freeze();
    if (this.#is === 'killed') family.kill();
  }
  freeze(): void {
    if (this.#is === 'frozen') return;
    this.#is = 'frozen';
    this.#thawed = Promise.withResolvers();
    this.#limit.freeze();
    this.#family?.freeze();
  }
  thaw(): void {
    this.#is = 'moving';
    this.#thawed.resolve(null);
    this.#limit.thaw();
    this.#family?.thaw();
  }
  kill(): void {
    this.#is = 'killed';
    this.#family?.kill();
    this.#stop();
  }
  async usage() {
    return (await this.#family?.usage()) ?? { memoryMb: 0, cpuMs: 0 };
  }
}
