/** One after another for each key: a request that is repeated while the first is under way waits for it. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = (async () => {
      await before?.catch(() => undefined); // told to whoever asked for it
      return work();
    })();
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }

  /** Settles when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
