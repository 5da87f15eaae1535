import type { ServerResponse } from 'node:http';
import { Inflow, LoopbackServer, sendJson } from './loopback.ts';

export interface NtfyMessage {
  topic: string;
  title?: string;
  message: string;
  priority?: number;
  actions?: { action: string; url: string; method: string; label: string; body: string }[];
}

/** An ntfy server: publishing by JSON, and a stream per topic. */
export class NtfyStandIn {
  readonly published = new Inflow<NtfyMessage>();
  readonly token = 'tk_real-looking';
  readonly #streams: { topic: string; response: ServerResponse }[] = [];
  readonly #http: LoopbackServer;
  #next = 1;

  constructor() {
    this.#http = new LoopbackServer((request, text, response) => {
      if (request.headers.authorization !== `Bearer ${this.token}` && request.method === 'GET')
        return sendJson(response, { error: 'forbidden' }, 403);
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      const [, topic = '', isStream] = /^\/([\w-]+)(\/json)?$/.exec(pathname) ?? [];
      if (isStream) {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.write(`${JSON.stringify({ id: 'open', time: 0, event: 'open' })}\n`);
        this.#streams.push({ topic, response });
        return;
      }
      if (topic !== '') return this.#take({ topic, message: text }, response);
      if (request.headers.authorization !== `Bearer ${this.token}`)
        return sendJson(response, { error: 'forbidden' }, 403);
      this.#take(JSON.parse(text) as NtfyMessage, response);
    });
  }

  get url(): string {
    return this.#http.url;
  }
  listen = () => this.#http.listen();
  close = () => this.#http.close();

  #take(message: NtfyMessage, response: ServerResponse): void {
    const id = `m${this.#next++}`;
    const line = { id, time: Math.floor(Date.now() / 1000), event: 'message', ...message };
    for (const stream of this.#streams)
      if (stream.topic === message.topic) stream.response.write(`${JSON.stringify(line)}\n`);
    this.published.put(message);
    sendJson(response, { id });
  }
}
