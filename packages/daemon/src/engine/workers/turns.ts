/** Runs work one at a time per key. A repeated request waits for the first one. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = (async () => {
      await before?.catch(() => undefined); // its own caller gets the error
      return work();
    })();
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }

  /** Settles when no work is in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
