import type { Reined } from '../ports.ts';
import type { Family } from './family.ts';
import type { TimeLimit } from './time-limit.ts';

/** The child as its worker holds it: also before it has started, so that no word is lost. */
export class Hold implements Reined {
  readonly #limit: TimeLimit;
  readonly #stop: () => void;
  #family: Family | null = null;
  #is: 'moving' | 'frozen' | 'killed' = 'moving';

  constructor(limit: TimeLimit, stop: () => void) {
    this.#limit = limit;
    this.#stop = stop;
  }

  begin(family: Family): void {
    this.#family = family;
    if (this.#is === 'frozen') family.freeze();
    if (this.#is === 'killed') family.kill();
  }
  freeze(): void {
    this.#is = 'frozen';
    this.#limit.freeze();
    this.#family?.freeze();
  }
  thaw(): void {
    this.#is = 'moving';
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
