import type { Block, ClaudeMessage } from './messages.ts';

const LONGEST_CALL = 200;
/** The most useful input fields of a call. */
const TELLING = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'url', 'query', 'description'];

/** Length of the shown beginning of a tool's result. */
const LONGEST_ANSWER = 2000;

/** The text of the run's log: the agent's messages, a line per tool use, and its indented result. */
export function readable(message: ClaudeMessage): string {
  if (message.type !== 'assistant' && message.type !== 'user') return '';
  const { content } = message.message;
  const lines = message.type === 'assistant' ? content.map(said) : content.map(answered);
  const text = lines.filter((line) => line !== '').join('\n');
  return text === '' ? '' : `${text}\n`;
}

function said({ type, text = '', name = '', input = {} }: Block): string {
  if (type === 'text') return text.trim();
  return type === 'tool_use' ? `> ${callLine(name, input)}` : '';
}

/** A tool use in one line. */
export const callLine = (name: string, input: Record<string, unknown>): string =>
  `${name}: ${oneLine(callText(input))}`;

function callText(input: Record<string, unknown>): string {
  const telling = TELLING.map((key) => input[key]).find((value) => typeof value === 'string');
  return typeof telling === 'string' ? telling : JSON.stringify(input);
}

function answered({ type, content, is_error }: Block): string {
  if (type !== 'tool_result') return '';
  if (is_error) return `! ${oneLine(typeof content === 'string' ? content : JSON.stringify(content ?? ''))}`;
  const text = (typeof content === 'string' ? content : textOf(content)).trimEnd();
  const cut = text.length > LONGEST_ANSWER ? `${text.slice(0, LONGEST_ANSWER)}…` : text;
  return cut === '' ? '' : cut.replaceAll(/^/gm, '  ');
}

/** A result may have several parts. Only text is used. */
function textOf(content: unknown): string {
  const pieces: unknown[] = Array.isArray(content) ? content : [];
  return pieces
    .map((piece) => (piece as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_CALL ? `${line.slice(0, LONGEST_CALL)}…` : line;
}
