import { connect, type Socket } from 'node:net';

/**
 * A client of HTTP that does next to nothing: one connection, one request at a time, answers with a length. A fuller one
 * would take more of the machine than the server that is measured.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #chunks: Buffer[] = [];
  #settle: { resolve(status: number): void; reject(error: Error): void } | null = null;

  constructor(url: string) {
    const { hostname, port, host } = new URL(url);
    this.#host = host;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#settle?.reject(error));
    this.#socket.on('close', () => this.#settle?.reject(new Error('the server hung up')));
  }

  /** Answers the status once the whole body has arrived. */
  ask(method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#settle = { resolve, reject };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length =
      body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${lines.join('')}${length}\r\n${body}`);
    return promise;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks.splice(0));
    if (this.#chunks.length === 0) this.#chunks.push(all);
    const end = all.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = all.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (!(all.length < end + 4 + length)) {
      this.#chunks.length = 0;
      const { resolve, reject } = this.#settle!;
      this.#settle = null;
      if (Number.isNaN(length)) reject(new Error(`an answer without a length: ${head}`));
      else resolve(Number(head.slice(9, 12)));
    }
  }

  close(): void {
    this.#settle = null;
    this.#socket.destroy();
  }
}
