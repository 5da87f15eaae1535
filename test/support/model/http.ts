import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a vendor's program sent it. */
export interface ModelRequest<Body = unknown> {
  index: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Body;
  at: number;
}

export interface ModelServer<Body = unknown> {
  /** `http://127.0.0.1:…`, without a path. */
  url: string;
  /** Every request of the spoken protocol, in the order of arrival. */
  requests: ModelRequest<Body>[];
  /** Other requests: they show whether a vendor's program calls home. */
  others: string[];
  /** Resolves once that many requests have arrived. */
  arrived(count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ModelProtocol<Body> {
  /** Whether this is the protocol's own request; everything else is answered with 404 and noted in `others`. */
  takes(request: { method: string; path: string }): boolean;
  answer(request: ModelRequest<Body>, response: ServerResponse): Promise<void>;
}

/** The protocol-independent part of a scripted model server: loopback only, all requests recorded, always closed. */
export async function startModelServer<Body>(protocol: ModelProtocol<Body>): Promise<ModelServer<Body>> {
  const requests: ModelRequest<Body>[] = [];
  const others: string[] = [];
  const waiting = new Set<{ count: number; resolve(): void }>();
  const hear = async (incoming: IncomingMessage, response: ServerResponse) => {
    const method = incoming.method ?? 'GET';
    const path = incoming.url ?? '/';
    if (!protocol.takes({ method, path })) {
      others.push(`${method} ${path}`);
      return sendJson(response, 404, { type: 'error', error: { type: 'not_found_error', message: `no ${path} here` } });
    }
    const body = JSON.parse(await textOf(incoming)) as Body;
    const request = { index: requests.length, method, path, headers: incoming.headers, body, at: Date.now() };
    requests.push(request);
    for (const wait of waiting) if (requests.length >= wait.count) wait.resolve();
    await protocol.answer(request, response);
  };
  const server = createServer((incoming, response) => {
    // Tests include clients that disconnect.
    response.on('error', () => response.destroy());
    hear(incoming, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { type: 'error', error: { type: 'api_error', message: error.message } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    others,
    arrived: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) return resolve();
        waiting.add({ count, resolve });
      }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(stream: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Begins a stream of server-sent events; `send` resolves when the event is out. */
export function openEventStream(response: ServerResponse, headers: Record<string, string> = {}) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
  return {
    send: (event: string, data: unknown) =>
      new Promise<void>((resolve) => {
        response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`, () => resolve());
      }),
    end: () => void response.end(),
    /** Like a broken network: no last chunk. */
    cut: () => void response.destroy(),
  };
}

/** A script of turns: the same for every request, one after the other, or whatever a function makes of the request. */
export type Script<Turn, Body> = Turn | Turn[] | ((request: ModelRequest<Body>) => Turn | Promise<Turn>);

export async function turnOf<Turn extends object, Body>(
  script: Script<Turn, Body>,
  request: ModelRequest<Body>,
): Promise<Turn> {
  if (typeof script === 'function') return script(request);
  if (!Array.isArray(script)) return script;
  const turn = script[request.index];
  if (turn) return turn;
  throw new Error(`the script has ${script.length} turns, and this is request ${request.index + 1}`);
}
