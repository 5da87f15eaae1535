import type { AskedQuestion, Preference } from '@tidemill/contract';

type Hash = (text: string) => string;

/**
 * Identifies a question by its words. Numbers, paths and names must be the same: "Allow 5 retries?" is not "Allow 500
 * retries?". Only spaces, and capitals of plain words outside of quotes, make no difference.
 */
export function questionFingerprint(text: string, hash: Hash): string {
  const essence = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(
      /(["`“«][^"`”»]*["`”»])|\b[A-Z][a-z]*\b/g,
      (word, quoted: string | undefined) => quoted ?? word.toLowerCase(),
    );
  return hash(`question\n${essence}`).slice(0, 16);
}

/**
 * Whether a learned answer fits a new question: the same question, and the answer is one of its options, or it was and
 * is a question without options.
 */
export function isFitting(learned: Preference, asked: AskedQuestion, hash: Hash): boolean {
  if (questionFingerprint(learned.text, hash) !== questionFingerprint(asked.text, hash)) return false;
  if (asked.options.length > 0) return asked.options.some(({ label }) => label === learned.answer);
  return asked.allowFreeText && learned.hadOptions !== true;
}
