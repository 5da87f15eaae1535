import { AppError, type Run, STREAM_CLOSE, StreamRequest } from '@tidemill/contract';
import type { RawData, WebSocket } from 'ws';
import type { z } from 'zod';
import type { Services } from '../handlers/context.ts';
import { badInput } from '../handlers/index.ts';
import { eventFilter } from '../handlers/record/event.ts';
import { streamRunLog } from '../handlers/record/run-log.ts';
import { BoundedSender } from './bounded-sender.ts';
import type { StreamLimits } from './limits.ts';
import { Subscription } from './subscription.ts';
import type { LogTail } from './tail.ts';
import type { Views } from './views.ts';

/** Codes that every WebSocket library knows. */
const CLOSE = { policy: 1008, error: 1011 };

type Asked = z.output<typeof StreamRequest>;

export interface StreamConnectionOptions {
  services(): Services;
  /** Settles once it reads. */
  tail: Promise<LogTail>;
  views: Views;
  limits: StreamLimits;
  /** Whether anyone who opened it might still do so. */
  isWelcome(): Promise<boolean>;
  onError(error: unknown): void;
}

/** One client: what it asked for, and what it is sent. */
export class StreamConnection {
  readonly #socket: WebSocket;
  readonly #options: StreamConnectionOptions;
  readonly #outlet: BoundedSender;
  readonly #follows = new Map<Run['id'], AbortController>();
  #subscription: Subscription | null = null;
  #requests: Promise<void> = Promise.resolve();
  #waiting = 0;
  #hasAnswered = true;

  constructor(socket: WebSocket, options: StreamConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outlet = new BoundedSender(socket, options.limits);
    this.#outlet.onDrain = () => this.#subscription?.advance();
    this.#outlet.onTired = () => this.close(STREAM_CLOSE.tooSlow, String(this.#subscription?.cursor ?? 0));
    socket.on('message', (data) => this.#receive(data));
    socket.on('pong', () => {
      this.#hasAnswered = true;
    });
    socket.on('close', () => this.#end());
    // A broken connection closes; why it broke is the client's own affair.
    socket.on('error', () => undefined);
  }

  advance(): void {
    this.#subscription?.advance();
  }

  /** A token may have been revoked since. */
  async checkWelcome(): Promise<void> {
    if (!(await this.#options.isWelcome())) this.close(STREAM_CLOSE.unauthorized, 'the token is no longer valid');
  }

  /** Whether somebody is there, and lets them know that we are. */
  ping(): void {
    // A full connection answers nothing before it has read what lies in front of the ping; it has its own limit.
    if (this.#outlet.isFull) return;
    if (!this.#hasAnswered) {
      this.#socket.terminate();
      return;
    }
    this.#hasAnswered = false;
    this.#socket.ping();
    // A page sees no pings. An empty batch also moves its cursor over what its filter left out.
    const cursor = this.#subscription?.cursor;
    if (cursor !== undefined && performance.now() - this.#outlet.sentAt > this.#options.limits.pingMs / 2)
      this.#outlet.send({ type: 'events', cursor, events: [] });
  }

  close(code: number, reason: string): void {
    this.#end();
    this.#socket.close(code, reason);
  }

  fail(): void {
    this.close(CLOSE.error, 'something went wrong in the daemon');
  }

  #end(): void {
    this.#subscription?.end();
    this.#subscription = null;
    for (const follow of this.#follows.values()) follow.abort();
    this.#follows.clear();
  }

  /** One after another, in the order they came. */
  #receive(data: RawData): void {
    if (this.#waiting >= this.#options.limits.requests) {
      this.close(CLOSE.policy, 'too many requests at once');
      return;
    }
    this.#waiting += 1;
    this.#requests = this.#requests.then(async () => {
      try {
        // Who does not read what it asked for gets nothing more to read, and in the end asks too much.
        await this.#outlet.room();
        await this.#answer(parseRequest(String(data)));
      } catch (error) {
        this.#refuse(error);
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  async #answer(asked: Asked): Promise<void> {
    if (asked.type === 'subscribe') await this.#subscribe(asked);
    else if (asked.type === 'follow') await this.#follow(asked.run, asked.offset);
    else this.#unfollow(asked.run);
  }

  /** The former subscription stands until the new one does. A cursor from another log, beyond the end of ours, starts there. */
  async #subscribe(asked: Extract<Asked, { type: 'subscribe' }>): Promise<void> {
    const { services, limits, views } = this.#options;
    const { store } = services();
    const filter = await eventFilter({ store }, asked);
    if (asked.views && filter.projectId === undefined)
      throw new AppError('bad_input', 'views are of one project', { hint: 'Name the project in the subscription.' });
    const tail = await this.#options.tail;
    const end = await store.lastSeq();
    const cursor = Math.min(asked.after ?? end, end);
    if (!this.#outlet.isOpen) return;
    this.#subscription?.end();
    this.#subscription = new Subscription({
      store,
      tail,
      limits,
      filter,
      cursor,
      outlet: this.#outlet,
      views: asked.views ? { all: views, projectId: filter.projectId! } : null,
      onError: (error) => this.#fail(error),
    });
    this.#outlet.send({ type: 'ready', cursor });
    this.#subscription.start();
  }

  /** Settles once it is known that the output can be followed. */
  async #follow(run: string, offset: number): Promise<void> {
    this.#unfollow(run);
    const { services, limits } = this.#options;
    if (this.#follows.size >= limits.follows)
      throw new AppError('bad_input', `a connection follows at most ${limits.follows} runs`, {
        hint: 'Unfollow one first.',
      });
    const gone = new AbortController();
    const chunks = await streamRunLog(services(), { run, offset, follow: true }, gone.signal);
    if (!this.#outlet.isOpen) return;
    this.#follows.set(run, gone);
    this.#send(run, offset, chunks, gone).catch((error: unknown) => this.#refuse(error));
  }

  async #send(
    run: string,
    from: number,
    chunks: Awaited<ReturnType<typeof streamRunLog>>,
    gone: AbortController,
  ): Promise<void> {
    let offset = from;
    try {
      for await (const chunk of chunks) {
        if (gone.signal.aborted) return;
        offset = chunk.offset;
        this.#outlet.send({ type: 'log', run, chunk, isOver: false });
        await this.#outlet.room();
      }
      if (!gone.signal.aborted) this.#outlet.send({ type: 'log', run, chunk: { offset, text: '' }, isOver: true });
    } finally {
      if (this.#follows.get(run) === gone) this.#follows.delete(run);
    }
  }

  #unfollow(run: string): void {
    this.#follows.get(run)?.abort();
    this.#follows.delete(run);
  }

  #refuse(error: unknown): void {
    if (!(error instanceof AppError)) {
      this.#fail(error);
      return;
    }
    const { code, message, hint } = error;
    this.#outlet.send({ type: 'refused', code, message, hint });
  }

  #fail(error: unknown): void {
    if (!this.#outlet.isOpen) return;
    this.#options.onError(error);
    this.fail();
  }
}

function parseRequest(text: string): Asked {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad_input', 'the message is not JSON', {
      hint: 'Send for example {"type":"subscribe","project":"…"}.',
      cause,
    });
  }
  const parsed = StreamRequest.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badInput(parsed.error);
}
