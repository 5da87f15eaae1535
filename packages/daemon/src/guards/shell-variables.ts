import type { Assignment } from 'unbash';
import { UNKNOWN } from './shell-expansion.ts';

/** More values than this count as unknown. */
const MOST_VALUES = 5_000;

/** The values that a shell's variables may have; null if unknown. */
export class ShellVariables {
  #values = new Map<string, string[] | null>();
  /** The environment variables that were read since the innermost `asking` began. */
  #asked = new Set<string>();

  /** The values of a variable that was set here; undefined when it was not. */
  get(name: string): string[] | null | undefined {
    return this.#values.has(name) ? known(this.#values.get(name) ?? null) : undefined;
  }

  set(name: string, values: string[] | null): void {
    this.#values.set(name, values && known(values));
  }

  /** Records that a variable of the environment is read. */
  ask(name: string): void {
    this.#asked.add(name);
  }

  get asked(): string[] {
    return [...this.#asked];
  }

  /** Records separately what `work` reads. */
  asking<T>(work: () => T): T {
    const outer = this.#asked;
    this.#asked = new Set();
    try {
      return work();
    } finally {
      this.#asked = outer;
    }
  }

  /** Discards what `work` sets, as after a subshell. */
  apart<T>(work: () => T): T {
    const values = this.#values;
    this.#values = new Map(values);
    try {
      return work();
    } finally {
      this.#values = values;
    }
  }

  /** `earlier` is the value of the variable before. */
  assign({ name, append, value, index }: Assignment, values: string[], earlier: string[] | null): void {
    const before = append || index ? earlier : [];
    const isList = index !== undefined || value.type === 'ArrayValue';
    if (before === null || before.length * values.length > MOST_VALUES) this.#values.set(name, null);
    else if (isList) this.#values.set(name, [...before, ...values]);
    else if (append)
      this.#values.set(
        name,
        before.flatMap((head) => values.map((tail) => head + tail)),
      );
    else this.#values.set(name, values);
  }
}

const known = (values: string[] | null) => (values?.some((value) => value.includes(UNKNOWN)) ? null : values);
