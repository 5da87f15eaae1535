/** An answer that GitHub need not send again while it is unchanged. */
export interface KeptAnswer {
  etag: string;
  data: unknown;
  next: string | null;
}

const MOST = 500;
/** Text of issues can be large; the cache stays small. */
const MOST_CHARS = 32 << 20;

/** Answers by address, the least recently used dropped first. */
export class AnswerCache {
  readonly #kept = new Map<string, KeptAnswer & { size: number }>();
  #size = 0;

  get(key: string): KeptAnswer | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found;
  }

  put(key: string, answer: KeptAnswer): void {
    this.drop(key);
    const size = JSON.stringify(answer.data).length;
    this.#kept.set(key, { ...answer, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST && this.#size <= MOST_CHARS) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }
}
