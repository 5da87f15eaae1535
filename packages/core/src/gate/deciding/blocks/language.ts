/** How comments, strings and statements of a language look: one row per language. */
export interface TestLanguage {
  /** Line comments; sticky. */
  line?: RegExp;
  block?: [open: string, close: string];
  /** Block comments nest. */
  nests?: true;
  quotes: Quote[];
  /** What ends a statement besides `;`: a closed brace, any line that can end, or the line and its indentation. */
  lines: 'braces' | 'asi' | 'ends' | 'indent' | 'loose indent';
  /** Lines also end between parentheses. */
  endsInside?: true;
  /** `/…/` may be a pattern. */
  patterns?: true;
  /** A string that starts on the next line and ends at its own name. */
  heredoc?: RegExp;
  /** Lines that are read before all others: `#define`. A backslash continues a line anywhere. */
  directives?: true;
  /** Comments that a tool or a runner obeys. */
  acting?: RegExp;
  /** The comments right behind one of these are a part of it. */
  actsOn?: RegExp;
  /** Parentheses are not always in pairs, and braces are words. */
  shell?: true;
}

export interface Quote {
  open: RegExp;
  /** From the first group of `open`; absent: that group itself. */
  close?: (found: string) => string;
  isRaw?: true;
  isMultiline?: true;
  /** Opens code inside the string. */
  code?: string;
}

const SLASHES = /\/\//y;
const HASH = /#/y;
const SLASH_STAR: [string, string] = ['/*', '*/'];
const simple = (code?: string): Quote => ({ open: /(["'])/y, ...(code ? { code } : {}) });
const DOUBLE: Quote = { open: /(")/y };
const triple = (code?: string): Quote => ({ open: /(""")/y, isMultiline: true, ...(code ? { code } : {}) });
/** A character, but not the start of a lifetime or a label. */
const CHARACTER: Quote = { open: /(')(?=\\|[^\\'\n]{1,2}')/y };

const LANGUAGES: [endings: RegExp, language: TestLanguage][] = [
  [
    /\.[cm]?[jt]sx?$/,
    {
      // After a colon it is an address in the text of an element. A line ends at U+2028 too.
      line: /(?<!:)\/\/|^#!/y,
      block: SLASH_STAR,
      quotes: [simple(), { open: /(`)/y, isMultiline: true, code: '${' }],
      lines: 'asi',
      patterns: true,
      acting: /@(jest|vitest)-|@ts-|sourceMappingURL|^#!/,
    },
  ],
  [
    /\.py[ix]?$/,
    {
      line: HASH,
      quotes: [
        { open: /(?:[bruRBU]{0,2}[fFtT][rR]?)("""|''')/y, isMultiline: true, code: '{' },
        { open: /(?:[bruBRU]{0,2})("""|''')/y, isMultiline: true },
        { open: /(?:[rR]?[fFtT][rR]?)(["'])/y, code: '{' },
        { open: /(?:[bruBRU]{0,2})(["'])/y },
      ],
      lines: 'indent',
      // UTF-8 is what Python assumes without it.
      acting: /coding[:=](?!\s*utf-?8(?![-\w.]))|^#!/i,
    },
  ],
  [
    /\.go$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      quotes: [DOUBLE, { open: /(`)/y, isRaw: true, isMultiline: true }, CHARACTER],
      lines: 'ends',
      endsInside: true,
      acting: /^\/\/(go:|line |export |\s*\+build|\s*(unordered )?output:)|^\/\*line /i,
      actsOn: /^\/\/\s*(unordered )?output:/i,
    },
  ],
  [
    /\.rs$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      nests: true,
      quotes: [
        { open: /[bc]?r(#*)"/y, close: (found) => `"${found}`, isRaw: true, isMultiline: true },
        { open: /[bc]?(")/y, isMultiline: true },
        CHARACTER,
        { open: /b(')/y },
      ],
      lines: 'braces',
    },
  ],
  [
    /\.(c|cc|cpp|cxx|h|hpp|m|mm)$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      quotes: [
        { open: /(?:u8|[uUL])?R"([^()\\\s]{0,16})\(/y, close: (found) => `)${found}"`, isRaw: true, isMultiline: true },
        DOUBLE,
        CHARACTER,
      ],
      lines: 'braces',
      directives: true,
    },
  ],
  [
    /\.(java|groovy)$/,
    // The compiler reads `\u000a` in a comment as the end of the line.
    { line: SLASHES, block: SLASH_STAR, quotes: [triple(), simple()], lines: 'braces', acting: /\\u/ },
  ],
  [
    /\.cs$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      quotes: [triple(), { open: /(?:@\$?|\$@)(")/y, isRaw: true, isMultiline: true }, { open: /\$(")/y }, simple()],
      lines: 'braces',
      directives: true,
    },
  ],
  [
    /\.(kts?|scala|dart)$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      nests: true,
      quotes: [triple('${'), { ...DOUBLE, code: '${' }, CHARACTER],
      lines: 'ends',
    },
  ],
  [
    /\.swift$/,
    {
      line: SLASHES,
      block: SLASH_STAR,
      nests: true,
      quotes: [triple('\\('), { ...DOUBLE, code: '\\(' }],
      lines: 'ends',
      directives: true,
    },
  ],
  [
    /\.php$/,
    {
      line: /\/\/|#(?!\[)/y,
      block: SLASH_STAR,
      quotes: [{ open: /(["'])/y, isMultiline: true }],
      lines: 'braces',
      heredoc: /<<<[ \t]*["']?([A-Za-z_]\w*)["']?/y,
      // Until version 12 PHPUnit reads annotations in comments.
      acting: /\?>|@(test|dataProvider|depends|testWith|before|after|beforeClass|afterClass)\b/,
    },
  ],
  [
    /\.(rb|cr)$/,
    {
      line: /#(?!\{)/y,
      quotes: [{ open: /(["'`])/y, isMultiline: true, code: '#{' }],
      lines: 'loose indent',
      patterns: true,
      heredoc: /<<[-~]["'`]?([A-Za-z_]\w*)["'`]?/y,
      acting: /^#\s*-?\*?-?\s*(encoding|coding|frozen_string_literal|warn_indent)/,
    },
  ],
  [
    /\.exs?$/,
    {
      line: HASH,
      quotes: [triple('#{'), { ...DOUBLE, code: '#{', isMultiline: true }, { open: /(''')/y, isMultiline: true }],
      lines: 'loose indent',
    },
  ],
  [/\.feature$/, { line: /(?<=^[ \t]*)#/my, quotes: [triple()], lines: 'loose indent' }],
  [
    /\.(sh|bash|zsh|bats)$/,
    {
      line: /(?<=^|[\s;(&|])#/my,
      quotes: [
        { open: /\$(')/y, isMultiline: true },
        { open: /(')/y, isRaw: true, isMultiline: true },
        { open: /(")/y, isMultiline: true, code: '$(' },
        { open: /(\$\{)/y, close: () => '}', isMultiline: true },
      ],
      lines: 'ends',
      heredoc: /<<-?[ \t]*["']?\\?([A-Za-z_]\w*)["']?/y,
      acting: /^#!|^#\s*bats/,
      shell: true,
    },
  ],
];

export const languageOf = (path: string): TestLanguage | null =>
  LANGUAGES.find(([endings]) => endings.test(path.toLowerCase()))?.[1] ?? null;
