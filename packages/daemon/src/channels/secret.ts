import type { Channel } from '../ports.ts';
import { ChannelError } from './channel-error.ts';

/** The secrets of one channel, read from the environment and removed from all messages. */
export class Secrets {
  readonly #env: NodeJS.ProcessEnv;
  readonly #values: string[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  read(name: string): string {
    const value = this.#env[name]?.trim() ?? '';
    if (value === '')
      throw new ChannelError('denied', `the environment variable ${name} is not set`, {
        hint: `Set ${name} and start the daemon again.`,
      });
    this.#values.push(value);
    return value;
  }

  optional(name: string | undefined): string | undefined {
    return name === undefined ? undefined : this.read(name);
  }

  hide(text: string): string {
    return this.#values.reduce(
      (rest, value) => rest.replaceAll(value, '***').replaceAll(encodeURIComponent(value), '***'),
      text,
    );
  }

  channelError(error: unknown): ChannelError {
    if (error instanceof ChannelError)
      return new ChannelError(error.kind, this.hide(error.message), {
        hint: this.hide(error.hint),
        waitMs: error.waitMs,
      });
    return new ChannelError('down', this.hide(reasonOf(error)));
  }
}

/** `fetch failed` does not explain the failure; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const inner = error.cause === undefined ? '' : reasonOf(error.cause);
  return [error.message || code || error.name, inner].filter((part) => part !== '').join(': ');
}

/** Turns any error of a library into a channel error without secrets. */
export function withoutSecrets(channel: Channel, secrets: Secrets): Channel {
  const { listen } = channel;
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw secrets.channelError(error);
    }
  };
  return {
    line: channel.line,
    send: (message, signal) => guarded(channel.send(message, signal)),
    ...(listen && { listen: (onAnswer, signal) => guarded(listen.call(channel, onAnswer, signal)) }),
    close: () => guarded(channel.close()),
  };
}
