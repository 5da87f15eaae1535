import type { Socket } from 'node:net';

/** The most connections without a token; a browser needs only a few. */
const MOST = 100;

/**
 * Connections without a valid token yet. When there are too many, the oldest connection of the address with the most
 * connections is closed. So clients that only connect cannot lock others out.
 *
 *   connected ──▶ stranger ──token──▶ known
 *                    └── too many: destroyed
 */
export class AnonymousLimit {
  readonly #most: number;
  /** Oldest first. With TLS, the request's socket differs from the connection's socket. */
  readonly #waiting = new Map<string, Socket>();

  constructor(most = MOST) {
    this.#most = most;
  }

  add(socket: Socket): void {
    const key = keyOf(socket);
    this.#waiting.set(key, socket);
    socket.once('close', () => {
      if (this.#waiting.get(key) === socket) this.#waiting.delete(key);
    });
    if (this.#waiting.size > this.#most) this.#letGo();
  }

  /** The connection has sent a valid token. */
  trust(socket: Socket): void {
    this.#waiting.delete(keyOf(socket));
  }

  #letGo(): void {
    const counts = new Map<string, number>();
    for (const { remoteAddress = '' } of this.#waiting.values())
      counts.set(remoteAddress, (counts.get(remoteAddress) ?? 0) + 1);
    const [crowd] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most));
    for (const [key, socket] of this.#waiting) {
      if ((socket.remoteAddress ?? '') !== crowd) continue;
      this.#waiting.delete(key);
      socket.destroy();
      return;
    }
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
