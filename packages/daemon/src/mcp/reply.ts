import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { type AppError, plainText, withoutSecrets } from '@tidemill/contract';
import { codeBlock } from '@tidemill/core';

/** About 2,000 tokens: a result that fills the client's context helps nobody. */
const MAX_CHARS = 8000;

export type ToolReply = CallToolResult | InputRequiredResult;

/** Our own words, without text of others. */
export const told = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** `head` is ours. `data` may be written by anybody: it is cut, cleaned, and fenced as data. */
export function shown(head: string, data: string): CallToolResult {
  return told(`${head}\n${asData(data)}`);
}

export function asData(text: string): string {
  const plain = withoutSecrets(plainText(text));
  const cut =
    plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)}\n[cut: ${plain.length - MAX_CHARS} characters]` : plain;
  return codeBlock(cut, 'data');
}

/** A refusal is the tool's result: the model reads it and can correct itself. */
export function refused(error: AppError): CallToolResult {
  return { ...told([error.message, error.hint].filter(Boolean).join('\n')), isError: true };
}

/** A line of a text that others wrote, at most `most` characters long. */
export function brief(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** `1 open question`, `2 open questions`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
