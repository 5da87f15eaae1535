import { createHash, randomBytes } from 'node:crypto';
import { type AccessRole, AppError, type Caller, NamedToken } from '@tidemill/contract';
import { z } from 'zod';
import type { Clock } from '../ports.ts';
import { markOf, readText, underLock, writeAtomically } from './token-file.ts';

const StoredToken = NamedToken.extend({ hash: z.string() });
type StoredToken = z.infer<typeof StoredToken>;
const TokenFile = z.object({ tokens: z.array(StoredToken) });

/** When a token was last used is told to the minute: a write per request would buy nothing. */
const USE_STEP_MS = 60_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const shown = ({ hash: _hash, ...token }: StoredToken): NamedToken => token;

/**
 * The tokens that were given out, in a file of the data folder. Only hashes are kept. The file is looked at with every
 * use, so that what another process adds or revokes counts at once.
 */
export class TokenBook {
  readonly #file: string;
  readonly #clock: Pick<Clock, 'now'>;
  #mark = '';
  #byHash = new Map<string, StoredToken>();

  constructor(file: string, clock: Pick<Clock, 'now'>) {
    this.#file = file;
    this.#clock = clock;
  }

  list(): NamedToken[] {
    return [...this.#read().values()].map(shown);
  }

  add(name: string, role: AccessRole): NamedToken & { token: string } {
    const token = `tidemill_${randomBytes(32).toString('base64url')}`;
    const added = { name, role, createdAt: this.#clock.now(), lastUsedAt: null, hash: hashOf(token) };
    this.#change((tokens) => {
      if (tokens.some((other) => isSame(other.name, name)))
        throw new AppError('conflict', `there is already a token named "${name}"`, {
          hint: `Choose another name, or revoke that one first: tidemill token revoke ${name}`,
        });
      return [...tokens, added];
    });
    return { ...shown(added), token };
  }

  revoke(name: string): { revoked: string } {
    let revoked = name;
    this.#change((tokens) => {
      const found = tokens.find((token) => isSame(token.name, name));
      if (!found)
        throw new AppError('not_found', `there is no token named "${name}"`, {
          hint:
            tokens.length === 0 ? 'None was given out.' : `There are ${tokens.map((each) => each.name).join(', ')}.`,
        });
      revoked = found.name;
      return tokens.filter((token) => token !== found);
    });
    return { revoked };
  }

  /** Whose token it is; null when it is nobody's. */
  callerOf(token: string): Caller | null {
    const hash = hashOf(token);
    const known = this.#read().get(hash);
    if (!known) return null;
    const now = this.#clock.now();
    if (now - (known.lastUsedAt ?? 0) >= USE_STEP_MS) this.#touch(known, now);
    return { name: known.name, role: known.role, since: known.createdAt };
  }

  #touch(used: StoredToken, lastUsedAt: number): void {
    try {
      this.#change((tokens) => tokens.map((token) => (token.hash === used.hash ? { ...token, lastUsedAt } : token)));
    } catch {
      // A full disk must not lock people out: then the time is known here only, until the next write.
      used.lastUsedAt = lastUsedAt;
    }
  }

  #change(change: (tokens: StoredToken[]) => StoredToken[]): void {
    underLock(`${this.#file}.lock`, () => {
      const tokens = change([...this.#read().values()]);
      writeAtomically(this.#file, `${JSON.stringify({ tokens }, null, 2)}\n`);
    });
  }

  #read(): Map<string, StoredToken> {
    const mark = markOf(this.#file);
    if (mark === this.#mark) return this.#byHash;
    const text = readText(this.#file);
    this.#byHash = new Map(text === null ? [] : parse(this.#file, text).map((token) => [token.hash, token]));
    this.#mark = mark;
    return this.#byHash;
  }
}

/** Two names that differ by case only would be taken for one by people. */
const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function parse(file: string, text: string): StoredToken[] {
  try {
    return TokenFile.parse(JSON.parse(text)).tokens;
  } catch (cause) {
    throw new AppError('bad_config', `${file} is damaged: it does not hold a list of tokens`, {
      hint: 'Delete the file; every token that was given out is then worthless, and can be made anew.',
      cause,
    });
  }
}
