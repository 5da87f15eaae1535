import { createHash, randomBytes } from 'node:crypto';
import { AppError, type Caller, type RunBinding } from '@tidemill/contract';
import type { RunAccess } from '../ports.ts';

const PREFIX = 'tidemill_run_';
/** Of the last runs that ended, it can be said that their tokens have expired. */
const MOST_ENDED = 1000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64');

/**
 * Tokens for the agents of this daemon. They are kept in memory only: a daemon's agents never outlive it. Their hashes are the
 * keys, so a lookup does not compare a guess with a token.
 */
export class RunTokens implements RunAccess {
  readonly #url: () => string;
  readonly #open = new Map<string, RunBinding>();
  readonly #ended = new Set<string>();

  /** `url`: of the MCP server on this machine. */
  constructor(url: () => string) {
    this.#url = url;
  }

  open(run: RunBinding): ReturnType<RunAccess['open']> {
    const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
    const hash = hashOf(token);
    this.#open.set(hash, run);
    return { door: { url: this.#url(), token }, close: () => this.#close(hash) };
  }

  #close(hash: string): void {
    if (!this.#open.delete(hash)) return;
    this.#ended.add(hash);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= MOST_ENDED) break;
      this.#ended.delete(oldest);
    }
  }

  /** Returns the agent of the token's run, or null when the token is not one of these. */
  callerOf(given: string): Caller | null {
    if (!given.startsWith(PREFIX)) return null;
    const hash = hashOf(given);
    const run = this.#open.get(hash);
    // Its own role gives it nothing: what an agent may do is decided by its mode.
    if (run) return { name: run.agent, role: 'viewer', run };
    if (!this.#ended.has(hash)) return null;
    throw new AppError('unauthorized', 'this token has expired: its run has ended', {
      hint: 'A run gets its own token when it starts.',
    });
  }
}
