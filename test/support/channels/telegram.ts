import { Inflow, LoopbackServer, sendJson } from './loopback.ts';

export interface TelegramCall {
  method: string;
  body: Record<string, never> & {
    chat_id?: string;
    text?: string;
    offset?: number;
    reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
    reply_parameters?: { message_id: number };
    callback_query_id?: string;
    show_alert?: boolean;
  };
}

const LIMIT = 4096;

/** The parts of Telegram's bot API that a bot with questions and answers needs. */
export class TelegramStandIn {
  readonly token = '123456:AAE-real-looking_token';
  readonly calls = new Inflow<TelegramCall>();
  readonly #updates: { update_id: number }[] = [];
  readonly #http: LoopbackServer;
  #wake: () => void = () => undefined;
  #nextMessage = 100;
  #nextUpdate = 1;

  constructor() {
    this.#http = new LoopbackServer(async (request, text, response) => {
      const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
      const fail = (code: number, description: string) =>
        sendJson(response, { ok: false, error_code: code, description }, code);
      if (token !== this.token) return fail(401, 'Unauthorized');
      const body = JSON.parse(text === '' ? '{}' : text) as TelegramCall['body'];
      if (method === 'getUpdates') {
        if (this.#updates.every(({ update_id }) => update_id < (body.offset ?? 0))) {
          const gone = new Promise<void>((resolve) => response.on('close', resolve));
          await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), gone]);
        }
        const result = this.#updates.filter(({ update_id }) => update_id >= (body.offset ?? 0));
        return sendJson(response, { ok: true, result });
      }
      if ((body.text?.length ?? 0) > LIMIT) return fail(400, 'Bad Request: message is too long');
      this.calls.put({ method, body });
      const message = { message_id: this.#nextMessage++, date: 0, chat: { id: Number(body.chat_id), type: 'private' } };
      sendJson(response, { ok: true, result: method === 'sendMessage' ? { ...message, text: body.text } : true });
    });
  }

  get url(): string {
    return this.#http.url;
  }
  listen = () => this.#http.listen();
  close = () => this.#http.close();

  /** The nth message sent, from 0; its id is 100 + n when nothing else was sent. */
  async message(fits: (text: string) => boolean = () => true): Promise<TelegramCall['body']> {
    return (await this.calls.first(({ method, body }) => method === 'sendMessage' && fits(body.text ?? ''))).body;
  }

  press(chat: number, data: string, username: string): void {
    const message = { message_id: 100, date: 0, chat: { id: chat, type: 'private' } };
    this.#put({ callback_query: { id: 'press', from: this.#person(username), chat_instance: 'x', data, message } });
  }

  reply(chat: number, toMessage: number, text: string, username: string): void {
    const there = { date: 0, chat: { id: chat, type: 'private' } };
    const reply_to_message = { ...there, message_id: toMessage };
    this.#put({ message: { ...there, message_id: 900, from: this.#person(username), text, reply_to_message } });
  }

  #person = (username: string) => ({ id: 7, is_bot: false, first_name: username, username });

  #put(update: object): void {
    this.#updates.push({ ...update, update_id: this.#nextUpdate++ });
    this.#wake();
  }
}
