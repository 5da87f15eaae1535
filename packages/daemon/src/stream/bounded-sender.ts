import type { StreamMessage } from '@tidemill/contract';
import type { WebSocket } from 'ws';
import type { StreamLimits } from './limits.ts';

const OPEN = 1;

/** The sending half of a connection, with a bound on what waits in memory for its reader. */
export class BoundedSender {
  readonly #socket: WebSocket;
  readonly #limits: StreamLimits;
  readonly #waiting = new Set<() => void>();
  #isFull = false;
  #patience: NodeJS.Timeout | null = null;
  #sentAt = 0;
  /** The reader has caught up with what was written. */
  onDrain: () => void = () => undefined;
  /** The reader has taken nothing for too long. */
  onTired: () => void = () => undefined;

  constructor(socket: WebSocket, limits: StreamLimits) {
    this.#socket = socket;
    this.#limits = limits;
    socket.once('close', () => this.#empty());
  }

  get isOpen(): boolean {
    return this.#socket.readyState === OPEN;
  }
  /** When the reader last got something, by `performance.now`. */
  get sentAt(): number {
    return this.#sentAt;
  }
  /** Once full it stays so until the reader has taken most of it. */
  get isFull(): boolean {
    if (!this.#isFull && this.#socket.bufferedAmount > this.#limits.fullBytes) {
      this.#isFull = true;
      this.#patience = setTimeout(() => this.onTired(), this.#limits.patienceMs);
    }
    return this.#isFull;
  }

  /** Text that is sent to many comes as bytes, which are framed without being copied. */
  send(message: StreamMessage | Buffer): void {
    if (!this.isOpen) return;
    this.#sentAt = performance.now();
    const data = Buffer.isBuffer(message) ? message : JSON.stringify(message);
    this.#socket.send(data, { binary: false }, () => {
      if (this.#isFull && this.#socket.bufferedAmount <= this.#limits.drainedBytes) this.#empty();
    });
  }

  /** Settles when there is room, or when the connection is closed. */
  async room(): Promise<void> {
    if (this.isOpen && this.isFull) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #empty(): void {
    this.#isFull = false;
    if (this.#patience) clearTimeout(this.#patience);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    if (this.isOpen) this.onDrain();
  }
}
