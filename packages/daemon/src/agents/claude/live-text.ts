import type { ClaudeMessage } from './messages.ts';
import { readable } from './transcript.ts';

/** The run's log of an agent that a person reads along with: its text piece by piece, and no text twice. */
export class LiveText {
  #shown = '';

  /** What is added to the log for a piece of a text. */
  piece(text: string): string {
    this.#shown += text;
    return text;
  }

  /** What is added for a complete message: only what was not shown in pieces. */
  message(message: ClaudeMessage): string {
    if (message.type !== 'assistant' || message.parent_tool_use_id || this.#shown === '') return readable(message);
    const { content } = message.message;
    const text = content.flatMap((block) => (block.type === 'text' ? (block.text ?? '') : [])).join('\n');
    if (text.trim() !== this.#shown.trim()) return readable(message);
    this.#shown = '';
    const others = content.filter(({ type }) => type !== 'text');
    return `\n${readable({ ...message, message: { ...message.message, content: others } })}`;
  }
}
