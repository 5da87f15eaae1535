import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { STREAM_CLOSE } from '@tidemill/contract';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Services } from '../handlers/context.ts';
import { StreamConnection } from './connection.ts';
import { STREAM_LIMITS, type StreamLimits } from './limits.ts';
import { LogTail } from './tail.ts';
import { Views } from './views.ts';

/** How long a client has to answer when the daemon stops. */
const GOODBYE_MS = 1000;

export interface StreamsOptions {
  services(): Services;
  onError(error: unknown, what: string): void;
  limits?: StreamLimits;
}

/** While somebody is connected: the one reader of the log, and the views of what they look at. */
interface Session {
  tail: LogTail;
  started: Promise<LogTail>;
  views: Views;
  timers: NodeJS.Timeout[];
  /** Takes the reader off the list that `doctor` shows. */
  unlist(): void;
}

/** Every open WebSocket. With none of them open it does nothing and costs nothing. */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #limits: StreamLimits;
  readonly #connections = new Map<WebSocket, StreamConnection>();
  #server: Promise<WebSocketServer> | null = null;
  #session: Session | null = null;
  #isClosing = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? STREAM_LIMITS;
  }

  /** Turns a request that was let in into a connection. `isWelcome` is asked again from time to time. */
  async accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    isWelcome: () => Promise<boolean>,
  ): Promise<void> {
    // Until the library takes over, nobody else hears that the peer has gone.
    const onError = () => socket.destroy();
    socket.on('error', onError);
    this.#server ??= openServer(this.#limits.messageBytes);
    const server = await this.#server;
    socket.off('error', onError);
    if (this.#isClosing || socket.destroyed) {
      socket.destroy();
      return;
    }
    server.handleUpgrade(request, socket, head, (opened) => this.#add(opened, isWelcome));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const gone = [...this.#connections.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const connection of this.#connections.values()) connection.close(STREAM_CLOSE.stopping, 'the daemon stops');
    const force = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.terminate();
    }, GOODBYE_MS);
    await Promise.all(gone);
    clearTimeout(force);
    await this.#endSession();
  }

  #add(socket: WebSocket, isWelcome: () => Promise<boolean>): void {
    const { services, onError } = this.#options;
    this.#session ??= this.#startSession();
    const { started: tail, views } = this.#session;
    const connection = new StreamConnection(socket, {
      services,
      tail,
      views,
      limits: this.#limits,
      isWelcome,
      onError: (error) => onError(error, 'a live connection failed'),
    });
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      if (this.#connections.size === 0) void this.#endSession();
    });
  }

  #startSession(): Session {
    const { services } = this.#options;
    const onError = (error: unknown) => this.#options.onError(error, 'the live stream could not be read');
    const views = new Views({ services, limits: this.#limits, onError });
    const tail = new LogTail(services().store, this.#limits, {
      onError,
      onLines: (lines) => {
        for (const connection of this.#connections.values()) connection.advance();
        views.note(lines);
      },
    });
    const started = tail.start().then(() => tail);
    started.catch((error: unknown) => {
      // No client would receive anything again. They must reconnect to get a working session.
      onError(error);
      if (this.#session?.started === started) void this.#endSession();
      for (const connection of this.#connections.values()) connection.fail();
    });
    const each = (act: (connection: StreamConnection) => void, everyMs: number) =>
      setInterval(() => this.#connections.forEach(act), everyMs);
    const { pingMs, welcomeMs } = this.#limits;
    const timers = [each((one) => one.ping(), pingMs), each((one) => one.checkWelcome(), welcomeMs)];
    const unlist = services().machine.reactors?.enlist(tail) ?? (() => undefined);
    return { tail, started, views, timers, unlist };
  }

  async #endSession(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (!session) return;
    session.unlist();
    for (const timer of session.timers) clearInterval(timer);
    await Promise.all([session.tail.stop(), session.views.stop()]);
  }
}

/** Loaded with the first connection, so that the daemon starts faster. */
async function openServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, clientTracking: false, maxPayload, perMessageDeflate: false });
}
