import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isRecord } from './hook-input.ts';

/** A use of a tool in a session, with its result. */
export interface ToolUse {
  tool: string;
  input: Record<string, unknown>;
  /** Null while there is no result. */
  result: { text: string; isError: boolean } | null;
}

/** More than a long turn; reading it takes a few milliseconds. */
const MOST_BYTES = 1024 * 1024;

/** The tool uses at the end of a transcript of Claude Code, in their order. Lines of another form are skipped. */
export function toolUsesIn(file: string): ToolUse[] {
  const uses = new Map<string, ToolUse>();
  for (const block of blocksIn(tailOf(file))) {
    const { type, id, name, input, tool_use_id: of } = block;
    if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string' && isRecord(input))
      uses.set(id, { tool: name, input, result: null });
    const use = type === 'tool_result' && typeof of === 'string' ? uses.get(of) : undefined;
    if (use) use.result = { text: textOf(block.content), isError: block.is_error === true };
  }
  return [...uses.values()];
}

function blocksIn(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => {
    if (!line.includes('"tool_')) return [];
    const content = contentOf(line);
    return Array.isArray(content) ? content.filter(isRecord) : [];
  });
}

function contentOf(line: string): unknown {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) && isRecord(entry.message) ? entry.message.content : null;
  } catch {
    return null; // the first line of the part that was read is usually incomplete
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('\n');
}

function tailOf(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const buffer = Buffer.alloc(Math.min(size, MOST_BYTES));
    readSync(handle, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } finally {
    closeSync(handle);
  }
}
