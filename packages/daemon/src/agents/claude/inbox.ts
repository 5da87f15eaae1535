import type { UserMessage } from './sdk-types.ts';

/** The messages to the agent, as the async iterable that the SDK needs. */
export class Inbox implements AsyncIterable<UserMessage> {
  readonly #waiting: string[] = [];
  #isClosed = false;
  #changed = Promise.withResolvers<void>();

  say(text: string): void {
    this.#waiting.push(text);
    this.#changed.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#changed.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserMessage> {
    for (;;) {
      const content = this.#waiting.shift();
      if (content !== undefined) yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
      else if (this.#isClosed) return;
      else {
        await this.#changed.promise;
        this.#changed = Promise.withResolvers();
      }
    }
  }
}
