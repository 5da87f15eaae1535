import type { Language } from './language.ts';

export interface Masked {
  /** The text with comments and the contents of strings as spaces. It has the same length and the same lines. */
  code: string;
  /** Where strings end: the position of the closing quote. Empty strings are left out. */
  strings: number[];
}

/** A string with one of these ends with its line, whatever follows. An unknown literal spoils one line at most. */
const SINGLE_LINE = ['"', "'"];

/** Blanks comments and strings, so that only code is left to be changed. */
export function masked(text: string, language: Language): Masked {
  const out = [...text.split('')];
  const strings: number[] = [];
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i += 1) if (out[i] !== '\n') out[i] = ' ';
  };
  const endOfLine = (from: number) => {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end;
  };
  for (let at = 0; at < text.length; ) {
    const opens = (token: string) => text.startsWith(token, at);
    const quote = language.quotes.find(opens);
    if (language.hasBlockComments && opens('/*')) {
      const close = text.indexOf('*/', at + 2);
      const end = close < 0 ? text.length : close + 2;
      blank(at, end);
      at = end;
    } else if (language.comments.some(opens) && isComment(text, at, language)) {
      const end = endOfLine(at);
      blank(at, end);
      at = end;
    } else if (quote !== undefined) {
      const end = endOfString(text, at + quote.length, quote);
      const isClosed = text.startsWith(quote, end);
      blank(at + quote.length, end);
      if (isClosed && end > at + quote.length) strings.push(end);
      at = isClosed ? end + quote.length : Math.max(end, at + 1);
    } else at += 1;
  }
  return { code: out.join(''), strings };
}

/** In a shell, a # inside a word is no comment. */
const isComment = (text: string, at: number, { comments, isShell }: Language): boolean =>
  !(isShell || comments.includes('#')) || text[at] !== '#' || at === 0 || /[\s;({]/.test(text[at - 1]!);

function endOfString(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith(quote, at)) return at;
    if (text[at] === '\\') at += 1;
    else if (text[at] === '\n' && SINGLE_LINE.includes(quote)) return at;
  }
  return text.length;
}
