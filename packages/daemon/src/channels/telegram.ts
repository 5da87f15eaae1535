import type { ChannelConfig } from '@tidemill/contract';
import type { Api, GrammyError } from 'grammy';
import type { InlineKeyboardButton, Update, User } from 'grammy/types';
import type { Channel, ChannelMessage, HearAnswer } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import { bodyText, cut, headline } from './render.ts';
import type { Secrets } from './secret.ts';

const LIMIT = 4096;
const TITLE_LIMIT = 200;
const BUTTON_LIMIT = 60;
const MOST_BUTTONS = 50;
const TOAST_LIMIT = 200;
const POLL_SECONDS = 30;

type TelegramConfig = Extract<ChannelConfig, { type: 'telegram' }>;

/** Channels of one bot share one reader: a bot has only one queue of updates. */
export class TelegramLines {
  readonly #lines = new Map<string, Line>();

  async open(config: TelegramConfig, secrets: Secrets): Promise<Channel> {
    const token = secrets.read(config.tokenEnv);
    const { Api } = await import('grammy');
    const key = `${config.baseUrl} ${token}`;
    const line = this.#lines.get(key) ?? new Line(new Api(token, { apiRoot: config.baseUrl.replace(/\/+$/, '') }));
    this.#lines.set(key, line);
    const chat = String(config.chat);
    const named = async <T>(work: Promise<T>): Promise<T> =>
      work.catch((error) => Promise.reject(translateError(error, config)));
    return {
      line: `telegram:${config.tokenEnv}:${chat}`,
      send: (message, signal) => named(send(line.api, chat, message, signal)),
      listen: (onAnswer, signal) => named(line.listen(chat, onAnswer, signal)),
      close: async () => undefined,
    };
  }
}

async function send(api: Api, chat: string, message: ChannelMessage, signal: AbortSignal): Promise<string> {
  const title = headline(message, TITLE_LIMIT);
  // Without a parse mode nothing in the text is markup; only our own headline is bold.
  const text = `${title}\n\n${bodyText(message, LIMIT - title.length - 2, { isAnswerable: true })}`;
  const sent = await api.sendMessage(
    chat,
    text,
    {
      entities: [{ type: 'bold', offset: 0, length: title.length }],
      link_preview_options: { is_disabled: true },
      disable_notification: message.severity === 'info',
      reply_markup: { inline_keyboard: keyboardOf(message) },
    },
    own(signal),
  );
  return `${chat}/${sent.message_id}`;
}

function keyboardOf({ parts }: ChannelMessage): InlineKeyboardButton[][] {
  return parts
    .flatMap((part, index) =>
      (part.question?.options ?? []).map(({ label }, option) => [
        {
          text: cut(parts.length > 1 ? `${index + 1}: ${label}` : label, BUTTON_LIMIT),
          callback_data: `${part.id} ${option}`,
        },
      ]),
    )
    .slice(0, MOST_BUTTONS);
}

/** One bot's queue of updates. It is read while there are listeners, and each listener gets only its own chat. */
class Line {
  readonly api: Api;
  readonly #listeners = new Map<string, HearAnswer>();
  #polling: { promise: Promise<void>; stop: AbortController } | null = null;
  #offset = 0;

  constructor(api: Api) {
    this.api = api;
  }

  async listen(chat: string, onAnswer: HearAnswer, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#listeners.set(chat, onAnswer);
    if (!this.#polling) {
      const stop = new AbortController();
      const promise = this.#poll(stop.signal).finally(() => {
        this.#polling = null;
      });
      this.#polling = { promise, stop };
    }
    const { promise, stop } = this.#polling;
    const over = Promise.withResolvers<void>();
    const leave = () => over.resolve();
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([promise, over.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      if (this.#listeners.get(chat) === onAnswer) this.#listeners.delete(chat);
      if (this.#listeners.size === 0) stop.abort();
      // No caller waits for it any more; the last one got the error.
      promise.catch(() => undefined);
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const question = { offset: this.#offset, timeout: POLL_SECONDS };
      try {
        const updates = await this.api.getUpdates(
          { ...question, allowed_updates: ['message', 'callback_query'] },
          own(signal),
        );
        for (const update of updates) {
          this.#offset = update.update_id + 1;
          await this.#take(update, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async #take({ callback_query: press, message }: Update, signal: AbortSignal): Promise<void> {
    if (press) {
      const chat = String(press.message?.chat.id ?? '');
      const [, partId, option] = /^(\S+) (\d+)$/.exec(press.data ?? '') ?? [];
      const onAnswer = this.#listeners.get(chat);
      if (!onAnswer || !partId || !option) return;
      const { isTaken, text } = await onAnswer({ partId, option: Number(option), by: nameOf(press.from) });
      // The answer is already recorded: a toast that is too late for Telegram must not undo that.
      await this.api
        .answerCallbackQuery(press.id, { text: cut(text, TOAST_LIMIT), show_alert: !isTaken }, own(signal))
        .catch(() => undefined);
      if (isTaken) await this.#reply(chat, press.message?.message_id, text, signal);
      return;
    }
    const asked = message?.reply_to_message;
    if (!message?.text || !asked || !message.from) return;
    const chat = String(message.chat.id);
    const onAnswer = this.#listeners.get(chat);
    if (!onAnswer) return;
    const reference = `${chat}/${asked.message_id}`;
    const { text } = await onAnswer({ reference, text: message.text, by: nameOf(message.from) });
    await this.#reply(chat, message.message_id, text, signal);
  }

  async #reply(chat: string, messageId: number | undefined, text: string, signal: AbortSignal): Promise<void> {
    const to = messageId === undefined ? {} : { reply_parameters: { message_id: messageId } };
    await this.api.sendMessage(
      chat,
      cut(text, LIMIT),
      { ...to, link_preview_options: { is_disabled: true } },
      own(signal),
    );
  }
}

/** The library's type is older than Node's own AbortSignal. */
const own = (signal: AbortSignal) => signal as Parameters<Api['getMe']>[0];

const nameOf = ({ username, first_name }: User) => `telegram:${username ? `@${username}` : first_name}`;

function translateError(error: unknown, { tokenEnv, chat }: TelegramConfig): unknown {
  if (!isGrammyError(error)) return error;
  const { error_code: code, description, parameters } = error;
  const said = `Telegram answered ${code}: ${description}`;
  // Telegram returns "not found" for a token with an invalid format.
  if (code === 401 || code === 404)
    return new ChannelError('denied', `Telegram does not accept the token in ${tokenEnv}: ${description}`, {
      hint: `Put the token that @BotFather gave into ${tokenEnv} and start the daemon again.`,
    });
  if (code === 403 || /chat not found/i.test(description))
    return new ChannelError('denied', said, {
      hint: `Write to the bot once from the chat ${chat}, or correct \`chat\`.`,
    });
  if (code === 409)
    return new ChannelError('down', said, {
      hint: 'Another program reads this bot’s messages. Give Tidemill its own.',
    });
  if (code === 429 || code >= 500)
    return new ChannelError('down', said, {
      waitMs: parameters.retry_after === undefined ? null : parameters.retry_after * 1000,
    });
  return new ChannelError('refused', said);
}

const isGrammyError = (error: unknown): error is GrammyError => error instanceof Error && error.name === 'GrammyError';
