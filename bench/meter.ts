/** Calls of a port, counted and timed from outside, to say where a task's time went. */
export class Meter {
  readonly #calls = new Map<string, { count: number; ms: number }>();

  /** The same object, with every method that answers a promise on the meter. */
  on<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key, receiver) => {
        const value: unknown = Reflect.get(target, key, receiver);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const startedAt = performance.now();
          const answer: unknown = Reflect.apply(value, target, args);
          if (answer instanceof Promise)
            answer.then(
              () => this.#add(`${name}.${String(key)}`, performance.now() - startedAt),
              () => undefined,
            );
          return answer;
        };
      },
    });
  }

  ms(name: string): number {
    return this.#calls.get(name)?.ms ?? 0;
  }

  reset(): void {
    this.#calls.clear();
  }

  /** The dearest first: `workspace.open 12.3 ms (1×)`, per unit of work. */
  shares(units: number): string[] {
    return [...this.#calls]
      .sort(([, a], [, b]) => b.ms - a.ms)
      .map(([name, { count, ms }]) => `${name} ${(ms / units).toFixed(1)} ms (${(count / units).toFixed(1)}×)`);
  }

  #add(name: string, ms: number): void {
    const known = this.#calls.get(name) ?? { count: 0, ms: 0 };
    this.#calls.set(name, { count: known.count + 1, ms: known.ms + ms });
  }
}
