import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AppError, type Caller } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { Streams } from '../stream/streams.ts';
import { type Bind, outerUrl } from './bind.ts';
import { type Door, hostsFor } from './door.ts';
import { Repeats } from './repeats.ts';
import { refuse } from './reply.ts';
import { answer, type RequestContext } from './request.ts';
import { Strangers } from './strangers.ts';
import { upgrade } from './upgrade.ts';

// Not by `import`: that evaluates every export of the module, which loads all of Node's fetch.
const { createServer } = process.getBuiltinModule('node:http');

const LOOPBACK = '127.0.0.1';

/** What a client may cost at most. */
const LIMITS = {
  /** One that sends its request a letter at a time is not waited for… */
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  /** …nor one that does not read its answer. */
  timeout: 300_000,
  /** Each takes a file handle, and the store and the agents need theirs. */
  maxConnections: 1000,
};

export interface HttpServer {
  /** On this machine. */
  url: string;
  /** From elsewhere. */
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
  onError(error: unknown, what: string): void;
  /** What somebody with a token changed of which no event tells the name. */
  onChange(text: string): void;
  limits?: Partial<typeof LIMITS>;
}

/**
 * Loopback always, for this machine's own commands and page; a second address when one was asked for, which then has the
 * port that was wished for.
 */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { outer, names } = options.bind;
  const { services, onChange } = options;
  const context: RequestContext = { services, onChange, repeats: new Repeats(Date.now), calls: new Set() };
  const inner = { host: LOOPBACK, tls: null, isPublic: false };
  const streams = new Streams({ services, onError: options.onError });
  const open: Listening[] = [];
  const close = async () => {
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
  door: Door;
}

async function listen(
  options: HttpOptions,
  context: RequestContext,
  streams: Streams,
  { host, tls, isPublic }: NonNullable<Bind['outer']>,
  wanted: number,
): Promise<Listening> {
  const { token, callerOf, bind, onError } = options;
  const door: Door = {
    scheme: tls ? 'https' : 'http',
    port: 0,
    hosts: [],
    isPublic,
    token,
    callerOf,
    strangers: new Strangers(),
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    answer(context, door, request, response).catch((error: unknown) => {
      if (!response.destroyed) refuse(response, error, onError);
    });
  };
  const { timeout, maxConnections, ...limits } = { ...LIMITS, ...options.limits };
  // What wants to become something else than a WebSocket stays what it is, as the protocol allows.
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
  // Answers under way get a moment; a client that does not read its answer must not hold the daemon up.
  const force = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(force);
}

function listenError(host: string, port: number, cause: unknown): unknown {
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
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL') {
    return new AppError('bad_input', `"${host}" is no address of this machine`, {
      hint: 'Give --host an address of this machine, or 0.0.0.0 for all of them.',
      cause,
    });
  }
  return cause;
}
