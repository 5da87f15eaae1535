import type { Socket } from 'node:net';

/** Connections without a token, at most; a person's browser needs a handful for a moment. */
const MOST = 100;

/**
 * Connections over which nobody has shown a token yet. There is room for few of them, and whoever comes last gets in:
 * the longest waiting one of the address that has the most is let go for it. So nobody is locked out by others who only
 * connect, however many they are.
 *
 *   connected ──▶ stranger ──token──▶ known
 *                    └── too many: destroyed
 */
export class Strangers {
  readonly #most: number;
  /** In the order in which they came. With TLS the socket of a request is another one than that of its connection. */
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

  /** Somebody has shown a token over it. */
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
