import type { Block, SdkMessage } from './messages.ts';

const LONGEST_CALL = 200;
/** What says most about a call, where a tool has it. */
const TELLING = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'url', 'query', 'description'];

/** The beginning of what a tool answers says what came of it. */
const LONGEST_ANSWER = 2000;

/** What a person reads in the run's log: what the agent says, a line per tool it uses, and indented what came of it. */
export function readable(message: SdkMessage): string {
  if (message.type !== 'assistant' && message.type !== 'user') return '';
  const { content } = message.message;
  const lines = message.type === 'assistant' ? content.map(said) : content.map(answered);
  const text = lines.filter((line) => line !== '').join('\n');
  return text === '' ? '' : `${text}\n`;
}

function said({ type, text = '', name = '', input = {} }: Block): string {
  if (type === 'text') return text.trim();
  return type === 'tool_use' ? `> ${name}: ${oneLine(callText(input))}` : '';
}

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

/** An answer may come in pieces; those that are no words are left out. */
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
