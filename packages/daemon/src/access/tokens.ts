import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type AccessRole,
  type Actor,
  ALL_PROJECTS,
  AppError,
  type Caller,
  NamedToken,
  type Token,
} from '@tidemill/contract';
import type { Clock, Store } from '../ports.ts';
import { takeOverTokens } from './token-file.ts';

const PREFIX = 'tidemill_';
/** The last use of a token is recorded at most once a minute, to avoid a write per request. */
const USE_STEP_MS = 60_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
/** Without the hash. */
const shown = (token: Token): NamedToken => NamedToken.parse(token);

export interface TokenSurroundings {
  store: Store;
  clock: Pick<Clock, 'now'>;
  onNote(text: string, error: unknown): void;
}

/**
 * The access tokens in the store. Only hashes are stored. Every request looks them up, so that changes by another
 * daemon on the same store take effect at once. An unreadable row grants no access.
 */
export class StoredTokens {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onNote: TokenSurroundings['onNote'];

  /** `file`: where earlier versions kept them. A damaged file is left in place, and doctor reports it. */
  static async open(file: string, around: TokenSurroundings): Promise<StoredTokens> {
    try {
      await takeOverTokens(file, around.store);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'bad_config')) throw error;
      around.onNote('the tokens of an earlier version were not imported', error);
    }
    return new StoredTokens(around);
  }

  private constructor({ store, clock, onNote }: TokenSurroundings) {
    this.#store = store;
    this.#clock = clock;
    this.#onNote = onNote;
  }

  async list(): Promise<NamedToken[]> {
    const found = await this.#store.records({ noun: 'token', isOpen: true });
    return found.map(shown).sort((a, b) => a.createdAt - b.createdAt);
  }

  async add(name: string, role: AccessRole, by: Actor): Promise<NamedToken & { token: string }> {
    const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
    const createdAt = this.#clock.now();
    await this.#change({ type: 'token.add', name, role, hash: hashOf(token), createdAt, by });
    return { name, role, createdAt, lastUsedAt: null, token };
  }

  async revoke(name: string, by: Actor): Promise<{ revoked: string }> {
    const known = await this.list();
    const found = known.find((token) => token.name.toLowerCase() === name.toLowerCase());
    if (!found)
      throw new AppError('not_found', `there is no token named "${name}"`, {
        hint: known.length === 0 ? 'There are no tokens.' : `There are ${known.map((each) => each.name).join(', ')}.`,
      });
    await this.#change({ type: 'token.revoke', name: found.name, by });
    return { revoked: found.name };
  }

  /** Returns the owner of the token, or null. */
  async callerOf(given: string): Promise<Caller | null> {
    if (!given.startsWith(PREFIX)) return null;
    const hash = hashOf(given);
    const [known] = await this.#find(hash);
    if (!known || !isEqual(known.hash, hash)) return null;
    if (this.#clock.now() - (known.lastUsedAt ?? 0) >= USE_STEP_MS) this.#use(known);
    return { name: known.name, role: known.role, since: known.createdAt };
  }

  async #find(hash: string): Promise<Token[]> {
    try {
      return await this.#store.records({ noun: 'token', parent: hash, isOpen: true });
    } catch (error) {
      // The reason goes to the log only: the client may be a stranger.
      this.#onNote('a token could not be looked up', error);
      throw error;
    }
  }

  /** Runs in the background: a full disk must not lock people out. */
  #use({ name, hash }: Token): void {
    this.#change({ type: 'token.use', name, hash }).catch((error: unknown) =>
      this.#onNote(`the last use of the token ${name} could not be recorded`, error),
    );
  }

  async #change(command: TokenChange): Promise<void> {
    const reply = await this.#store.execute({ projectId: ALL_PROJECTS, ...command });
    if (!reply.ok) throw new AppError(reply.refusal.code, reply.refusal.message, { hint: reply.refusal.hint });
  }
}

type Changing = Extract<Parameters<Store['execute']>[0], { type: `token.${string}` }>;
type TokenChange = Changing extends infer C ? (C extends Changing ? Omit<C, 'projectId'> : never) : never;

const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
