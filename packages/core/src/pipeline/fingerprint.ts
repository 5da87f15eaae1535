import type { Feedback } from '@tidemill/contract';

/** The same failure seen this often means that trying again changes nothing. */
export const SAME_FAILURE_LIMIT = 3;

const LONGEST = 20_000;

/** What a failure is when times, numbers, hashes and places are taken out of its text. */
export function fingerprintOf(kind: string, text: string, hash: (text: string) => string): string {
  const essence = text
    .slice(0, LONGEST)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    .replace(/\u001b\[[0-9;]*m/g, '')
    .replace(/(?:\/[\w.@+-]+)+\//g, '/')
    .replace(/\b[0-9a-f]{7,}\b/gi, '#')
    .replace(/\d+/g, '#')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
  return hash(`${kind}\n${essence}`).slice(0, 16);
}

/** A failure's whole text: what was fed back where there is something, else its message. */
export function failureText(message: string, feedback: Feedback[] | undefined): string {
  return feedback?.length ? feedback.map(({ text }) => text).join('\n') : message;
}
