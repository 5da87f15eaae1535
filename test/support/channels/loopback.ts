import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Received items, and a way to wait for the next one. */
export class Inflow<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  put(item: T): void {
    this.all.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** The first match among present and future items. */
  async first(fits: (item: T) => boolean = () => true): Promise<T> {
    for (;;) {
      const found = this.all.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** An HTTP server on a loopback port that replaces an external one. */
export class LoopbackServer {
  readonly server: Server;
  url = '';
  port = 0;

  constructor(answer: (request: IncomingMessage, body: string, response: ServerResponse) => void | Promise<void>) {
    this.server = createServer(async (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      for await (const chunk of request) body += chunk;
      await answer(request, body, response);
    });
  }

  /** On the same port as before, if it had one. */
  async listen(): Promise<void> {
    this.server.listen({ port: this.port, host: '127.0.0.1' });
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
