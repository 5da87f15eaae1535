import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, type ErrorCode, routes } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { callHandler } from '../handlers/index.ts';
import { prometheusText } from '../handlers/metrics.ts';
import { checkCaller, checkHost, readBody } from './guard.ts';
import { answerPage } from './page.ts';
import { matchRoute } from './router.ts';

const HOST = '127.0.0.1';
/** A follower hears at least this often from us, so that neither side takes silence for death. */
const SIGN_OF_LIFE_MS = 30_000;

const STATUS: Partial<Record<ErrorCode, number>> = {
  bad_input: 400,
  bad_config: 400,
  unknown_pipeline: 400,
  not_a_repository: 400,
  no_commits: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  no_project: 404,
  conflict: 409,
  stale_lease: 409,
  wrong_stage: 409,
  dependency_cycle: 409,
  evidence_missing: 409,
  daemon_running: 409,
  already_answered: 409,
  budget_exhausted: 409,
  worker_paused: 409,
  too_large: 413,
  disk_full: 507,
  channel_failed: 502,
};

export interface HttpServer {
  url: string;
  close(): Promise<void>;
}

export interface HttpOptions {
  port: number;
  token: string;
  /** Known only once the server listens, because the daemon's own address is part of them. */
  services(): Services;
  onError(error: unknown, what: string): void;
}

export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const closing = new AbortController();
  const server = createServer((request, response) => {
    answer(options, (server.address() as AddressInfo).port, closing.signal, request, response).catch(
      (error: unknown) => {
        if (!response.destroyed) refuse(response, error, options);
      },
    );
  });
  server.listen({ port: options.port, host: HOST });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw portError(options.port, cause);
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}`,
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      // Answers under way get a moment; a client that does not read its answer must not hold the daemon up.
      const force = setTimeout(() => server.closeAllConnections(), 1000);
      await closed;
      clearTimeout(force);
    },
  };
}

async function answer(
  options: HttpOptions,
  port: number,
  closing: AbortSignal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  checkHost(request, port);
  const url = addressOf(request);
  if (await answerPage(request, response, { url, token: options.token, port })) return;
  checkCaller(request, options.token, port);
  if (url.pathname === '/metrics' && request.method === 'GET') return sendMetrics(response, options.services());
  const { name, params } = matchRoute(request.method ?? 'GET', url.pathname);
  const route = routes[name];
  const given = route.method === 'GET' ? Object.fromEntries(url.searchParams) : await readBody(request);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  const result = await callHandler(options.services(), name, { ...given, ...params }, signal);
  if (route.stream) {
    const isSse = request.headers.accept?.includes('text/event-stream') ?? false;
    await sendStream(response, result as AsyncIterable<unknown>, isSse, signal);
  } else send(response, 200, result);
}

function addressOf(request: IncomingMessage): URL {
  const base = `http://${HOST}`;
  const given = request.url ?? '/';
  if (given.startsWith('/') && URL.canParse(given, base)) return new URL(given, base);
  throw new AppError('bad_input', `"${given}" is no address`);
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}

/** In Prometheus' own format, which is no JSON: the one answer that is not in the table of routes. */
async function sendMetrics(response: ServerResponse, services: Services): Promise<void> {
  const { type, text } = await prometheusText(services);
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  response.end(text);
}

/** One JSON object per line, or per server-sent event. Slow readers are waited for: nothing piles up in memory. */
async function sendStream(
  response: ServerResponse,
  items: AsyncIterable<unknown>,
  isSse: boolean,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    'content-type': isSse ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.flushHeaders();
  const alive = setInterval(() => response.write(isSse ? ':\n\n' : '\n'), SIGN_OF_LIFE_MS);
  try {
    for await (const item of items) {
      if (!response.write(framed(item, isSse))) await once(response, 'drain', { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(alive);
  }
  response.end();
}

function framed(value: unknown, isSse: boolean): string {
  const json = JSON.stringify(value);
  if (!isSse) return `${json}\n`;
  const id = typeof value === 'object' && value !== null && 'seq' in value ? `id: ${value.seq}\n` : '';
  return `${id}data: ${json}\n\n`;
}

function refuse(response: ServerResponse, error: unknown, options: HttpOptions): void {
  if (!(error instanceof AppError)) options.onError(error, 'a request failed');
  // Once the head is out there is no status left to give; cutting the stream tells the client that it is not complete.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, message, hint } =
    error instanceof AppError
      ? error
      : {
          code: 'internal' as const,
          message: 'something went wrong in the daemon',
          hint: 'See daemon.log in the data folder.',
        };
  // The rest of a refused body is not read.
  if (code === 'too_large') response.setHeader('connection', 'close');
  send(response, STATUS[code] ?? 500, { error: { code, message, hint } });
}

function portError(port: number, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `port ${port} is taken by another program`, {
      hint: 'Choose another with --port, or leave --port out for a free one.',
      cause,
    });
  }
  if (code === 'EACCES') {
    return new AppError('bad_input', `port ${port} may not be used by this user`, {
      hint: 'Choose a port above 1023, or leave --port out for a free one.',
      cause,
    });
  }
  return cause;
}
