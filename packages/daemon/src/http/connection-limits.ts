import type { Socket } from 'node:net';
import { AppError, type Caller, callerKey } from '@tidemill/contract';

/** Of one token, and of all tokens together. The rest of the server's connections stays free for the daemon's own token. */
const MOST = { connections: 100, streams: 50, together: 700 };

/** A connection, or the response that is sent over it. */
interface Closing {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * The open connections and streams of each access token. One above the limit is refused, so that the holder of a token
 * cannot lock out others. The daemon's own token has no limit: only the owner can read it.
 */
export class ConnectionLimits {
  readonly #most: typeof MOST;
  readonly #connections = new Map<Closing, string>();
  readonly #streams = new Map<Closing, string>();

  constructor(most: Partial<typeof MOST> = {}) {
    this.#most = { ...MOST, ...most };
  }

  /** Call with each request: a connection may carry several. */
  connect(socket: Socket, caller: Caller): void {
    const key = callerKey(caller);
    if (key === '' || this.#connections.get(socket) === key) return;
    if (countOf(this.#connections, key) >= this.#most.connections)
      throw tooMany(caller, `${this.#most.connections} connections`);
    if (this.#connections.size >= this.#most.together) throw tooMany(null, `${this.#most.together} connections`);
    take(this.#connections, socket, key);
  }

  /** Call before a stream begins. It ends when `stream` closes. */
  open(stream: Closing, caller: Caller): void {
    const key = callerKey(caller);
    if (key === '') return;
    if (countOf(this.#streams, key) >= this.#most.streams) throw tooMany(caller, `${this.#most.streams} streams`);
    take(this.#streams, stream, key);
  }
}

function take(seats: Map<Closing, string>, what: Closing, key: string): void {
  if (!seats.has(what)) what.once('close', () => seats.delete(what));
  seats.set(what, key);
}

/** A few hundred entries at most, and only looked through for a new connection. */
function countOf(seats: ReadonlyMap<Closing, string>, key: string): number {
  let count = 0;
  for (const each of seats.values()) if (each === key) count += 1;
  return count;
}

function tooMany(caller: Caller | null, what: string): AppError {
  const who = caller === null ? 'all tokens together have' : `the token ${caller.name} has`;
  return new AppError('too_many', `${who} ${what} open already`, {
    hint: 'Close some of them, or give each program a token of its own.',
    retriable: true,
  });
}
