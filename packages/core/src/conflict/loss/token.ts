/** A line as the detector compares it: white space and indentation do not count. */
export interface TextLine {
  text: string;
  /** Equal for lines with the same tokens. */
  key: string;
  tokens: TextToken[];
}

export interface TextToken {
  text: string;
  /** Inside a comment, as far as that can be seen without knowing the language. */
  isComment: boolean;
}

/** Words, single characters of scripts without spaces, brackets, runs of another punctuation character. */
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}_$]+?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])|[\p{L}\p{M}\p{N}_$]+|[()[\]{},;'"`]|([^\s\p{L}\p{M}\p{N}])\1*/gu;
/** Separators and quotes come and go with formatting. Everything else carries a meaning. */
const FORMATTING = /^[,;{}'"`]$/;
const WORD = /[\p{L}\p{N}_$]/u;

export const isSignificant = ({ text }: TextToken): boolean => !FORMATTING.test(text);
export const isWord = ({ text }: TextToken): boolean => WORD.test(text);
/** A brace, a blank line or `);` alone says nothing. */
export const saysSomething = ({ tokens }: TextLine): boolean => tokens.some(isWord);

/** Marks that make a comment of the rest of a line: at its start, or after white space. */
const LINE_COMMENT = /^\s*(?:\/\/|#(?=[\s#!]|$)|--(?=\s|$)|\*(?=[\s/]|$)|%(?=\s)|;+(?=\s))|\s(?:\/\/|#(?=\s)|--(?=\s))/;
const BLOCKS: { open: RegExp; close: string }[] = [
  { open: /(?:^|\s)\/\*/, close: '*/' },
  { open: /(?:^|\s)<!--/, close: '-->' },
];

/** Where a line is a comment, and the mark that ends it if it continues on the next line. */
interface Comment {
  from: number;
  to: number;
  open: string | null;
}

export function linesOf(text: string): TextLine[] {
  const texts = text.split(/\r?\n/);
  if (texts.at(-1) === '') texts.pop();
  const lastCloses = new Map(BLOCKS.map(({ close }) => [close, texts.findLastIndex((line) => line.includes(close))]));
  let open: string | null = null;
  return texts.map((line, at) => {
    const comment = open === null ? commentIn(line, (close) => lastCloses.get(close)! > at) : restOf(line, open);
    open = comment.open;
    const tokens = [...line.matchAll(TOKEN)].map(({ 0: found, index }) => ({
      // Formatters choose between the kinds of quotes.
      text: found === "'" || found === '`' ? '"' : found,
      isComment: index >= comment.from && index < comment.to,
    }));
    return { text: line, key: tokens.map((token) => token.text).join(' '), tokens };
  });
}

function restOf(line: string, close: string): Comment {
  const end = line.indexOf(close);
  return end < 0 ? { from: 0, to: line.length, open: close } : { from: 0, to: end + close.length, open: null };
}

function commentIn(line: string, isClosedLater: (close: string) => boolean): Comment {
  for (const { open, close } of BLOCKS) {
    const begin = open.exec(line);
    if (!begin) continue;
    const end = line.indexOf(close, begin.index + begin[0].length);
    if (end >= 0) return { from: begin.index, to: end + close.length, open: null };
    if (isClosedLater(close)) return { from: begin.index, to: line.length, open: close };
  }
  const from = LINE_COMMENT.exec(line)?.index ?? line.length;
  return { from, to: line.length, open: null };
}

export interface LineIndex {
  /** Whether the text has such a line; white space does not count. */
  has(line: string): boolean;
}

export function lineIndex(text: string): LineIndex {
  const keys = new Set(linesOf(text).map(({ key }) => key));
  return { has: (line) => keys.has(linesOf(line)[0]?.key ?? '') };
}
