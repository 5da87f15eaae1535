import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AppError, type Caller } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { Streams } from '../stream/streams.ts';
import { AnonymousLimit } from './anonymous-limit.ts';
import { type Bind, outerUrl } from './bind.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { GithubHooks } from './github-hook.ts';
import { IdempotentResponses } from './idempotency.ts';
import { hostsFor, type Listener } from './listener.ts';
import { type AnswerMcp, answer, type RequestContext } from './request.ts';
import { refuse } from './response.ts';
import { upgrade } from './upgrade.ts';

// Not by `import`: that evaluates every export of the module, which loads all of Node's fetch.
const { createServer } = process.getBuiltinModule('node:http');

const LOOPBACK = '127.0.0.1';

/** Limits per client. */
const LIMITS = {
  /** Against clients that send their request very slowly. */
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  /** Against clients that do not read the response. */
  timeout: 300_000,
  /** Leaves file handles for the store and the agents. */
  maxConnections: 1000,
};

export interface HttpServer {
  /** The address on this machine. */
  url: string;
  /** The address for other machines. */
  publicUrl: string | null;
  close(): Promise<void>;
}

export interface HttpOptions {
  port: number;
  bind: Bind;
  token: string;
  callerOf(token: string): Promise<Caller | null>;
  /** Known only once the server listens, because the daemon's own address is part of them. */
  services(): Services;
  mcp: AnswerMcp;
  onError(error: unknown, what: string): void;
  /** Called for changes with a token whose events do not name the caller. */
  onChange(text: string): void;
  limits?: Partial<typeof LIMITS>;
}

/** Listens on loopback for this machine's commands and page, and on a second address if one is set. That one gets the requested port. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { outer, names } = options.bind;
  const { services, mcp, onChange } = options;
  const hooks = new GithubHooks();
  const context: RequestContext = {
    services,
    mcp,
    onChange,
    repeats: new IdempotentResponses(Date.now),
    hooks,
    calls: new Set(),
  };
  const inner = { host: LOOPBACK, tls: null, isPublic: false };
  const streams = new Streams({ services, onError: options.onError });
  const open: Listening[] = [];
  const close = async () => {
    hooks.close();
    for (const call of context.calls) call.abort();
    await Promise.all([streams.close(), ...open.map((each) => end(each.server))]);
  };
  try {
    open.push(await listen(options, context, streams, inner, outer ? 0 : options.port));
    if (outer) open.push(await listen(options, context, streams, outer, options.port));
  } catch (error) {
    await close();
    throw error;
  }
  const [near, far] = open;
  return {
    url: `http://${LOOPBACK}:${near!.door.port}`,
    publicUrl: far && outer ? outerUrl(outer, names, far.door.port) : null,
    close,
  };
}

interface Listening {
  server: Server;
  door: Listener;
}

async function listen(
  options: HttpOptions,
  context: RequestContext,
  streams: Streams,
  { host, tls, isPublic }: NonNullable<Bind['outer']>,
  wanted: number,
): Promise<Listening> {
  const { token, callerOf, bind, onError } = options;
  const door: Listener = {
    scheme: tls ? 'https' : 'http',
    port: 0,
    hosts: [],
    isPublic,
    token,
    callerOf,
    strangers: new AnonymousLimit(),
    seats: new ConnectionLimits(),
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // The browser then never tries this name without TLS, where somebody could answer in our place.
    if (tls) response.setHeader('strict-transport-security', 'max-age=31536000');
    answer(context, door, request, response).catch((error: unknown) => {
      if (!response.destroyed) refuse(response, error, onError);
    });
  };
  const { timeout, maxConnections, ...limits } = { ...LIMITS, ...options.limits };
  // Ignore upgrades to anything but WebSocket.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';
  const settings = { ...limits, shouldUpgradeCallback };
  const server = tls
    ? process.getBuiltinModule('node:https').createServer({ ...settings, ...tls }, onRequest)
    : createServer(settings, onRequest);
  Object.assign(server, { timeout, maxConnections });
  server.on('connection', (socket: Socket) => door.strangers.add(socket));
  server.on('upgrade', (request, socket, head) => {
    upgrade(streams, door, request, socket, head).catch((error: unknown) => {
      onError(error, 'a live connection could not be opened');
      socket.destroy();
    });
  });
  server.listen({ port: wanted, host });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw listenError(host, wanted, cause);
  }
  door.port = (server.address() as AddressInfo).port;
  const own = isPublic || host === LOOPBACK ? [LOOPBACK, 'localhost'] : [host, LOOPBACK, 'localhost'];
  door.hosts = hostsFor([...own, ...bind.names], door.scheme, door.port);
  return { server, door };
}

async function end(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  // Give running responses a moment, but do not wait for clients that do not read.
  const force = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(force);
}

function listenError(host: string, port: number, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `port ${port} is used by another program`, {
      hint: 'Choose another port with --port, or omit --port to use a free one.',
      cause,
    });
  }
  if (code === 'EACCES') {
    return new AppError('bad_input', `this user may not use port ${port}`, {
      hint: 'Choose a port above 1023, or omit --port to use a free one.',
      cause,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL') {
    return new AppError('bad_input', `"${host}" is not an address of this machine`, {
      hint: 'Give --host an address of this machine, or 0.0.0.0 for all of them.',
      cause,
    });
  }
  return cause;
}
