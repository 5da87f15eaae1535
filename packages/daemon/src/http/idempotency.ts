import { createHash } from 'node:crypto';
import { AppError } from '@tidemill/contract';
import { otherRequest } from '../handlers/task/create.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 1000;
const MOST_LENGTH = 16_000_000;

interface Kept {
  /** Hash of the whole request. */
  print: string;
  at: number;
  /** The response body. */
  answer: Promise<string>;
  /** Null while the request runs. */
  length: number | null;
}

/** Visible ASCII. Null without a header. */
export function keyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,200}$/.test(header)) return header;
  throw new AppError('bad_input', 'the Idempotency-Key must be 1 to 200 visible characters without spaces', {
    hint: 'Use a random UUID.',
  });
}

/**
 * Responses of requests with an idempotency key. A repeated request waits for the first one or gets its response. Kept
 * in memory for a day. A failed request changed nothing and can be repeated.
 */
export class IdempotentResponses {
  readonly #kept = new Map<string, Kept>();
  #length = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  once(scope: { caller: string; key: string }, request: string, act: () => Promise<string>): Promise<string> {
    const id = `${scope.caller}\n${scope.key}`;
    const print = createHash('sha256').update(request).digest('base64');
    const known = this.#kept.get(id);
    if (known && this.#now() - known.at < KEPT_MS) {
      if (known.print === print) return known.answer;
      throw otherRequest(scope.key);
    }
    if (known) this.#forget(id, known);
    const kept: Kept = { print, at: this.#now(), answer: act(), length: null };
    this.#kept.set(id, kept);
    kept.answer.then(
      ({ length }) => {
        kept.length = length;
        this.#length += length;
        this.#forgetOld();
      },
      () => this.#forget(id, kept),
    );
    return kept.answer;
  }

  /** Maps keep insertion order, so the oldest come first. A running request is kept, or it could run twice. */
  #forgetOld(): void {
    for (const [id, kept] of this.#kept) {
      const isRoom = this.#kept.size <= MOST_KEPT && this.#length <= MOST_LENGTH;
      if (isRoom && this.#now() - kept.at < KEPT_MS) return;
      if (kept.length !== null) this.#forget(id, kept);
    }
  }

  #forget(id: string, kept: Kept): void {
    if (this.#kept.get(id) !== kept) return;
    this.#kept.delete(id);
    this.#length -= kept.length ?? 0;
  }
}
