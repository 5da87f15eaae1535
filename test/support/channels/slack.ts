import { type WebSocket, WebSocketServer } from 'ws';
import { Inflow, LoopbackServer, sendJson } from './loopback.ts';

export interface SlackCall {
  method: string;
  body: Record<string, string>;
}

interface Block {
  type: string;
  text?: { type: string; text: string };
  elements?: { action_id: string; value: string; text: { text: string } }[];
}

/** The parts of Slack's web API and Socket Mode that a bot with questions and answers needs. */
export class SlackStandIn {
  readonly token = 'xoxb-real-looking-token';
  readonly appToken = 'xapp-real-looking-token';
  readonly calls = new Inflow<SlackCall>();
  readonly acknowledged = new Inflow<string>();
  readonly #sockets = new Inflow<WebSocket>();
  readonly #http: LoopbackServer;
  #ws: WebSocketServer | null = null;
  #nextEnvelope = 1;

  constructor() {
    this.#http = new LoopbackServer((request, text, response) => {
      const method = (request.url ?? '').replace('/api/', '');
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
      const expected = method === 'apps.connections.open' ? this.appToken : this.token;
      if (token !== expected) return sendJson(response, { ok: false, error: 'invalid_auth' });
      if (method === 'apps.connections.open')
        return sendJson(response, { ok: true, url: `ws://127.0.0.1:${this.#http.port}/link` });
      this.calls.put({ method, body: Object.fromEntries(new URLSearchParams(text)) });
      sendJson(response, { ok: true, channel: 'C042', ts: `1700000000.00000${this.calls.all.length}`, view: {} });
    });
  }

  get url(): string {
    return `${this.#http.url}/api/`;
  }

  async listen(): Promise<void> {
    await this.#http.listen();
    this.#ws = new WebSocketServer({ server: this.#http.server });
    this.#ws.on('connection', (socket) => {
      socket.on('message', (data) => this.acknowledged.put(String(data)));
      socket.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
      this.#sockets.put(socket);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#ws?.clients ?? []) socket.terminate();
    this.#ws?.close();
    await this.#http.close();
  }

  async blocks(nth = 0): Promise<Block[]> {
    const posts = () => this.calls.all.filter(({ method }) => method === 'chat.postMessage');
    await this.calls.first(() => posts().length > nth);
    return JSON.parse(posts()[nth]!.body.blocks ?? '[]') as Block[];
  }

  /** A person presses a button, or sends the form it opened. */
  async interact(payload: object): Promise<void> {
    const socket = await this.#sockets.first();
    const envelope_id = `envelope-${this.#nextEnvelope++}`;
    const user = { id: 'U1', username: 'ada' };
    socket.send(
      JSON.stringify({
        type: 'interactive',
        envelope_id,
        accepts_response_payload: true,
        payload: { user, ...payload },
      }),
    );
    await this.acknowledged.first((text) => text.includes(envelope_id));
  }

  press(button: { action_id: string; value: string }): Promise<void> {
    const place = { trigger_id: 'trigger', channel: { id: 'C042' }, message: { ts: '1700000000.000001' } };
    return this.interact({ type: 'block_actions', ...place, actions: [button] });
  }
}
