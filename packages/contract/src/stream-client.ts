import { AppError } from './errors.ts';
import { EventLine } from './event.ts';
import type { Api } from './routes.ts';
import { STREAM_PATH, StreamMessage, type StreamRequest } from './stream.ts';
import { type Follow, pollOnce, type StreamSubscription } from './stream-poll.ts';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 5000;
const OPEN_MS = 5000;
/** The daemon gives a sign of life every 20 s; a connection that is quiet for longer is dead, whatever it says. */
const SILENCE_MS = 45_000;

/**
 *   connecting ─▶ live ─▶ connecting …
 *            └─▶ polling (HTTP answers) | signed_out (401) | offline (nobody answers) ─▶ live
 */
export type StreamState = 'connecting' | 'live' | 'polling' | 'offline' | 'signed_out';

/** As much of a WebSocket as is used here: the browser's, Node's and those of libraries all fit. */
export interface StreamSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

export interface StreamOptions {
  /** The daemon's address. */
  url: string;
  /** Asked while there is no socket. */
  api: Api;
  /** For programs, which send their token with the upgrade; a browser sends its cookie by itself. */
  open?(url: string): StreamSocket;
  subscribe: StreamSubscription;
  /** In order, each event once, whether it came by the socket or by asking. */
  onMessage(message: StreamMessage): void;
  onState(state: StreamState): void;
}

/** Keeps a subscription alive over everything that can go wrong in between. */
export interface Stream {
  readonly state: StreamState;
  /** All up to here has been handed over; null before the first answer. */
  readonly cursor: number | null;
  /** A run's output from an offset on; it goes on where it was when the connection comes back. */
  follow(run: string, offset?: number): void;
  unfollow(run: string): void;
  close(): void;
}

export function openStream(options: StreamOptions): Stream {
  const stream = new ReconnectingStream(options);
  void stream.run();
  return stream;
}

class ReconnectingStream implements Stream {
  readonly #options: StreamOptions;
  readonly #closing = new AbortController();
  readonly #follows = new Map<string, Follow>();
  #cursor: number | null;
  #state: StreamState = 'connecting';
  #socket: StreamSocket | null = null;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#cursor = options.subscribe.after ?? null;
  }

  get state(): StreamState {
    return this.#state;
  }
  get cursor(): number | null {
    return this.#cursor;
  }
  follow(run: string, offset = 0): void {
    this.#follows.set(run, { run, offset });
    if (this.#socket) this.#send({ type: 'follow', run, offset });
  }
  unfollow(run: string): void {
    if (this.#follows.delete(run) && this.#socket) this.#send({ type: 'unfollow', run });
  }
  close(): void {
    this.#closing.abort();
  }

  /** One thing at a time, so that what was polled and what was sent cannot overlap. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    this.#options.onState(this.#state);
    let delay = FIRST_DELAY_MS;
    while (!signal.aborted) {
      const wasLive = await this.#connect();
      if (signal.aborted) return;
      if (wasLive) {
        this.#become('connecting');
        delay = FIRST_DELAY_MS;
      } else await this.#poll();
      await pause(delay, signal);
      if (!wasLive) delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  }

  /** Settles when the connection is over: whether there ever was one. */
  #connect(): Promise<boolean> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      let socket: StreamSocket;
      try {
        socket = (this.#options.open ?? openGlobal)(socketUrl(this.#options.url));
      } catch {
        resolve(false); // an address that no socket may have, by the page's own policy for instance
        return;
      }
      let isLive = false;
      let watchdog = setTimeout(() => end(), OPEN_MS);
      const end = () => {
        clearTimeout(watchdog);
        signal.removeEventListener('abort', end);
        this.#socket = null;
        socket.close();
        resolve(isLive);
      };
      signal.addEventListener('abort', end, { once: true });
      socket.addEventListener('open', () => {
        this.#socket = socket;
        this.#send(this.#subscription());
        for (const { run, offset } of this.#follows.values()) this.#send({ type: 'follow', run, offset });
      });
      socket.addEventListener('message', ({ data }) => {
        if (this.#socket !== socket) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => end(), SILENCE_MS);
        isLive = true;
        this.#become('live');
        this.#take(parseMessage(String(data)));
      });
      socket.addEventListener('close', end);
      socket.addEventListener('error', end);
    });
  }

  /** One round of asking, which also tells why there is no socket. */
  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const wish = { ...this.#options.subscribe, after: this.#cursor ?? undefined };
      for await (const message of pollOnce(this.#options.api, wish, [...this.#follows.values()], signal)) {
        if (signal.aborted) return;
        this.#become('polling');
        this.#take(message);
      }
      this.#become('polling');
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof AppError ? error.code : 'internal';
      if (code === 'unauthorized') this.#become('signed_out');
      else if (code === 'daemon_unreachable') this.#become('offline');
      else {
        this.#become('polling');
        this.#take(refusal(error));
      }
    }
  }

  #take(message: StreamMessage): void {
    if (message.type === 'ready' || message.type === 'events') this.#cursor = message.cursor;
    if (message.type === 'log') {
      const follow = this.#follows.get(message.run);
      if (!follow) return;
      follow.offset = message.chunk.offset;
      if (message.isOver) this.#follows.delete(message.run);
    }
    this.#options.onMessage(message);
  }

  #subscription(): StreamRequest {
    return { type: 'subscribe', ...this.#options.subscribe, after: this.#cursor ?? undefined };
  }
  #send(request: StreamRequest): void {
    this.#socket?.send(JSON.stringify(request));
  }
  #become(state: StreamState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState(state);
  }
}

/** A newer daemon may tell of things that this program does not know yet: what it does know still arrives. */
function parseMessage(text: string): StreamMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refusal(error);
  }
  const parsed = StreamMessage.safeParse(value);
  if (parsed.success) return parsed.data;
  if (typeof value === 'object' && value !== null && 'events' in value && Array.isArray(value.events)) {
    const known = value.events.filter((event) => EventLine.safeParse(event).success);
    const again = StreamMessage.safeParse({ ...value, events: known });
    if (again.success) return again.data;
  }
  return refusal(parsed.error);
}

function refusal(error: unknown): StreamMessage {
  if (error instanceof AppError) {
    const { code, message, hint } = error;
    return { type: 'refused', code, message, hint };
  }
  const message = `a message of the daemon could not be understood: ${error instanceof Error ? error.message : error}`;
  return {
    type: 'refused',
    code: 'internal',
    message,
    hint: 'Load the page anew: the daemon may be of a newer version.',
  };
}

const openGlobal = (url: string): StreamSocket => new WebSocket(url);
function socketUrl(url: string): string {
  const address = new URL(STREAM_PATH, url);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
  });
}
