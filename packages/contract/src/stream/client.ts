import { AppError } from '../api/errors.ts';
import type { Api } from '../api/routes.ts';
import { EventLine } from '../event/event.ts';
import { type Follow, pollOnce, type StreamSubscription } from './poll.ts';
import { STREAM_PATH, StreamMessage, type StreamRequest } from './stream.ts';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 5000;
const OPEN_MS = 5000;
/** The daemon sends a heartbeat every 20 s. A connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/**
 *   connecting ─▶ live ─▶ connecting …
 *            └─▶ polling (HTTP answers) | signed_out (401) | offline (nobody answers) ─▶ live
 */
export type StreamState = 'connecting' | 'live' | 'polling' | 'offline' | 'signed_out';

/** The part of WebSocket that is used here: those of browsers, Node and libraries all fit. */
export interface StreamSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

export interface StreamOptions {
  /** The daemon's address. */
  url: string;
  /** Polled while there is no socket. */
  api: Api;
  /** For programs, which send their token with the upgrade. A browser sends its cookie automatically. */
  open?(url: string): StreamSocket;
  subscribe: StreamSubscription;
  /** In order, each event once, from the socket or from polling. */
  onMessage(message: StreamMessage): void;
  onState(state: StreamState): void;
}

/** Keeps a subscription alive across connection failures. */
export interface Stream {
  readonly state: StreamState;
  /** Everything up to this cursor was delivered; null before the first message. */
  readonly cursor: number | null;
  /** Follows a run's output from an offset; after a reconnect it continues from the same place. */
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

  /** Either the socket or polling, so that their messages cannot overlap. */
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

  /** Resolves when the connection ends: true if there was one. */
  #connect(): Promise<boolean> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      let socket: StreamSocket;
      try {
        socket = (this.#options.open ?? openGlobal)(socketUrl(this.#options.url));
      } catch {
        resolve(false); // the address is not allowed, for example by the page's security policy
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

  /** One poll, which also finds out why there is no socket. */
  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const subscription = { ...this.#options.subscribe, after: this.#cursor ?? undefined };
      for await (const message of pollOnce(this.#options.api, subscription, [...this.#follows.values()], signal)) {
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

/** A newer daemon may send events that this program does not know. The known ones are still delivered. */
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
  const message = `a message from the daemon could not be read: ${error instanceof Error ? error.message : error}`;
  return {
    type: 'refused',
    code: 'version_mismatch',
    message,
    hint: 'Reload the page: the daemon may have a newer version.',
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
