import type { IncomingMessage } from 'node:http';
import { STREAM_PATH, StreamMessage, type StreamRequest } from '@tidemill/contract';
import { WebSocket } from 'ws';

type Message<T extends StreamMessage['type']> = Extract<StreamMessage, { type: T }>;

/** A client of the live stream that keeps its messages. */
export class StreamProbe {
  readonly socket: WebSocket;
  readonly messages: StreamMessage[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #onNews: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.messages.push(StreamMessage.parse(JSON.parse(String(data))));
      this.#onNews();
    });
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
    this.closed = promise;
    socket.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      this.#onNews();
    });
  }

  static async open(url: string, token: string): Promise<StreamProbe> {
    const socket = new WebSocket(streamUrl(url), { headers: { authorization: `Bearer ${token}` } });
    const probe = new StreamProbe(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return probe;
  }

  /** With what the upgrade is refused. */
  static refusal(url: string, headers: Record<string, string>): Promise<{ status: number; code: string }> {
    const socket = new WebSocket(url, { headers });
    return new Promise((resolve, reject) => {
      socket.once('open', () => reject(new Error('it was let in')));
      socket.once('error', reject);
      socket.once('unexpected-response', async (_request, response: IncomingMessage) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).error.code });
      });
    });
  }

  ask(request: StreamRequest): void {
    this.socket.send(JSON.stringify(request));
  }

  /** Checks all messages so far, and again on each new one. */
  async until<T>(look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`closed after ${JSON.stringify(this.messages.slice(-3))}`);
      await new Promise<void>((resolve) => (this.#onNews = resolve));
    }
  }
  of<T extends StreamMessage['type']>(type: T): Message<T>[] {
    return this.messages.filter((message): message is Message<T> => message.type === type);
  }
  next<T extends StreamMessage['type']>(type: T, from = 0): Promise<Message<T>> {
    return this.until(() => this.of(type)[from]);
  }
  get seqs(): number[] {
    return this.of('events').flatMap(({ events }) => events.map(({ seq }) => seq));
  }
  async untilSeq(last: number): Promise<void> {
    await this.until(() => this.of('events').some(({ cursor }) => cursor >= last));
  }
  close(): void {
    this.socket.terminate();
  }
}

export const streamUrl = (url: string) => `${url.replace(/^http/, 'ws')}${STREAM_PATH}`;
