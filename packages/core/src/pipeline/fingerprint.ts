import type { Feedback } from '@tidemill/contract';

/** After this many identical failures a retry is pointless. */
export const SAME_FAILURE_LIMIT = 3;

const LONGEST = 20_000;

/** Identifies a failure: a hash of its text without times, numbers, hashes and paths. */
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

/** A failure's whole text: its feedback if there is any, else its message. */
export function failureText(message: string, feedback: Feedback[] | undefined): string {
  return feedback?.length ? feedback.map(({ text }) => text).join('\n') : message;
}
