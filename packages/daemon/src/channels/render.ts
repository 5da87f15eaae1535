import { plainLine, plainText, type Question } from '@tidemill/contract';
import type { ChannelMessage, MessagePart } from '../ports.ts';

const CUT = ' … (cut; `tidemill inbox` shows all of it)';

/** At most `limit` characters, never half of a surrogate pair. */
export function cut(text: string, limit: number, mark = '…'): string {
  if (text.length <= limit) return text;
  const end = Math.max(0, limit - mark.length);
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return text.slice(0, isHalf ? end - 1 : end) + mark.slice(0, limit);
}

export function headline(message: ChannelMessage, limit: number): string {
  return cut(plainLine(`${message.project}: ${message.title}`), limit);
}

/**
 * The message as plain text of at most `limit` characters. Each part gets its share, so that a long first one leaves
 * space for the others.
 */
export function bodyText(message: ChannelMessage, limit: number, { isAnswerable }: { isAnswerable: boolean }): string {
  const { parts } = message;
  const share = Math.floor(limit / parts.length) - 2;
  return parts
    .map((part, index) => partText(part, share, parts.length > 1 ? `${index + 1}. ` : '', isAnswerable))
    .join('\n\n');
}

function partText({ title, text, question }: MessagePart, limit: number, number: string, isAnswerable: boolean) {
  const ending = question ? `\n${howToAnswer(question, isAnswerable, number !== '')}` : '';
  const about = question ? questionText(question) : `${plainLine(title)}\n${plainText(text)}`.trim();
  return cut(`${number}${about}`, limit - ending.length, CUT) + ending;
}

function questionText(question: Question): string {
  const options = question.options.map(({ label, description, recommended }) => {
    const more = description === '' ? '' : `: ${plainLine(description)}`;
    return `- ${plainLine(label)}${recommended ? ' (recommended)' : ''}${more}`;
  });
  const learned = question.isDefaultLearned ? ' (learned from earlier answers)' : '';
  const fallback = question.defaultAnswer === null ? [] : [`Without an answer: ${question.defaultAnswer}${learned}`];
  const context = question.context === '' ? [] : [plainText(question.context)];
  return [plainText(question.text), ...options, ...fallback, ...context].join('\n');
}

function howToAnswer(question: Question, isAnswerable: boolean, isNumbered: boolean): string {
  const command = `tidemill answer ${question.ref || question.id} "…"`;
  if (!isAnswerable) return `Answer with: ${command}`;
  const words = question.allowFreeText ? (isNumbered ? 'reply with its number and your words' : 'reply in words') : '';
  const button = question.options.length > 0 ? 'press a button' : '';
  const ways = [button, words].filter((way) => way !== '').join(', or ');
  return `${ways === '' ? 'Answer' : `To answer, ${ways}; or`}: ${command}`;
}
