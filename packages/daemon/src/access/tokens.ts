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
/** When a token was last used is kept to the minute: a write per request would be of no use. */
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
 * The tokens that were given out, in the store. Only hashes are kept. They are looked up with every request, so that what
 * another daemon on the same store adds or revokes counts at once. A row that cannot be read lets nobody in.
 */
export class StoredTokens {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onNote: TokenSurroundings['onNote'];

  /** `file`: where earlier versions kept them. One that is damaged is left where it is, and doctor names it. */
  static async open(file: string, around: TokenSurroundings): Promise<StoredTokens> {
    try {
      await takeOverTokens(file, around.store);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'bad_config')) throw error;
      around.onNote('the tokens of an earlier version were not taken over', error);
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
        hint: known.length === 0 ? 'None was given out.' : `There are ${known.map((each) => each.name).join(', ')}.`,
      });
    await this.#change({ type: 'token.revoke', name: found.name, by });
    return { revoked: found.name };
  }

  /** Whose token it is; null when it is nobody's. */
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
      return await this.#store.records({ noun: 'token', taskId: hash, isOpen: true });
    } catch (error) {
      // Who reads the log is told why; whoever came with the token may be a stranger.
      this.#onNote('a token could not be looked up', error);
      throw error;
    }
  }

  /** Nobody waits for it, and a full disk must not lock people out. */
  #use({ name, hash }: Token): void {
    this.#change({ type: 'token.use', name, hash }).catch((error: unknown) =>
      this.#onNote(`when the token of ${name} was last used could not be recorded`, error),
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
