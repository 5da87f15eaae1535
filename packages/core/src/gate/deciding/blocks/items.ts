import type { TestLanguage } from './language.ts';
import { INDENT, type TestToken, tokensOf } from './tokens.ts';

/** A file as tokens, with the place of each bracket's partner. */
export interface TestSource {
  language: TestLanguage;
  tokens: TestToken[];
  partner: Int32Array;
}

/** A statement or a block: a range of tokens. */
export interface TestBlock {
  from: number;
  to: number;
}

export function sourceOf(text: string, language: TestLanguage): TestSource | null {
  const all = tokensOf(text, language);
  if (!all) return null;
  const tokens = language.directives ? all : withoutLastCommas(all);
  const partner = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  tokens.forEach(({ kind }, index) => {
    if (kind === 'open') open.push(index);
    else if (kind === 'close') {
      const start = open.pop()!;
      partner[start] = index;
      partner[index] = start;
    }
  });
  return { language, tokens, partner };
}

const KEYWORDS = /^(return|in|of|not|and|or|if|else|yield|await|is|case|when|assert|print|for|match)$/;

/** A comma before a closing bracket means nothing, unless it makes a tuple or a hole. */
function withoutLastCommas(tokens: TestToken[]): TestToken[] {
  const open: { isCall: boolean; commas: number }[] = [];
  return tokens.filter((token, index) => {
    const last = tokens[index - 1];
    if (token.kind === 'open') {
      const isAfterValue =
        last !== undefined && (last.kind === 'close' || (last.kind === 'word' && !KEYWORDS.test(last.text)));
      const isCall = token.text === '{' || (token.text === '(') === (isAfterValue || last?.text === '!');
      open.push({ isCall, commas: 0 });
    } else if (token.kind === 'close') open.pop();
    else if (token.text === ',' && token.kind === 'sign') {
      const group = open.at(-1);
      if (!group) return true;
      group.commas += 1;
      const isLast = tokens[index + 1]?.kind === 'close' && last?.kind !== 'open' && last?.text !== ',';
      return !(isLast && (group.isCall || group.commas > 1));
    }
    return true;
  });
}

/** Words that go on with the statement before them. */
const CONTINUES: Record<TestLanguage['lines'], RegExp> = {
  indent: /^(else|elif|except|finally)$/,
  'loose indent': /^(else|elsif|rescue|ensure|end|when|in|after|catch)$/,
  asi: /^(else|catch|finally|from|as|satisfies|instanceof|in|of)$/,
  ends: /^(else|catch|finally)$/,
  braces: /^(else|catch|finally)$/,
};
const ENDS_STATEMENT = /^[\w$"'`)\]}/]|^(\+\+|--|⇤)$/;

/** Cuts a range into statements and blocks. Decorators belong to what follows them. */
export function itemsIn(source: TestSource, from: number, to: number): TestBlock[] {
  const { tokens, partner } = source;
  const items: TestBlock[] = [];
  let start = from;
  let at = from;
  /** The tokens up to here are decorators of the item. */
  let decorated = from;
  while (at < to) {
    const token = tokens[at]!;
    const last = token.kind === 'open' ? partner[at]! : at;
    at = last + 1;
    if (at < to && !endsAfter(source, start, last, at)) continue;
    if (at < to && isOnlyDecorator(source, decorated, at)) {
      decorated = at;
      continue;
    }
    if (tokens.slice(start, Math.min(at, start + 2)).some(({ kind, text }) => kind !== 'newline' && text !== ';'))
      items.push({ from: start, to: at });
    start = at;
    decorated = at;
  }
  return items;
}

/** Whether the statement that begins at `start` ends with the token `last`. */
function endsAfter({ tokens, language }: TestSource, start: number, last: number, next: number): boolean {
  const token = tokens[last]!;
  const following = tokens[next]!;
  if (token.kind === 'directive' || following.kind === 'directive') return true;
  if (token.text === ';' && token.kind === 'sign') return following.kind !== 'newline' && following.text !== ';';
  if (following.text === ';' || following.kind === 'newline') return false;
  if (token.kind === 'acting' && following.isFirst) return true;
  const isContinued = following.kind === 'word' && CONTINUES[language.lines].test(following.text);
  if (token.kind === 'newline') return following.text !== INDENT && !isContinued;
  if (token.text === '⇤') return !isContinued && !'}])'.includes(following.text);
  // `#![…]` stands alone.
  if (tokens[start]?.text === '#' && tokens[start + 1]?.text === '!' && token.text === ']') return true;
  if (isContinued) return false;
  if (language.lines === 'braces')
    return (
      token.text === '}' &&
      (following.kind === 'word' || /^[#@~[$]/.test(following.text) || following.kind === 'acting') &&
      !(tokens[start]?.text === 'do' && following.text === 'while')
    );
  if (language.lines !== 'asi' || !following.isFirst) return false;
  return (
    ENDS_STATEMENT.test(token.text) &&
    !/^(=>|function|class|async|await|new|typeof|return|extends|implements)$/.test(token.text) &&
    (following.kind === 'word' || following.kind === 'string'
      ? !/^`/.test(following.text)
      : /^[@!]$|^\+\+$|^--$/.test(following.text))
  );
}

/** `@name.name(…)`, once or several times, and nothing else. */
function isOnlyDecorator({ tokens, partner }: TestSource, from: number, to: number): boolean {
  let at = from;
  while (at < to && tokens[at]?.text === '@') {
    at += 2;
    while (at < to && tokens[at]?.text === '.') at += 2;
    if (tokens[at]?.text === '(') at = partner[at]! + 1;
    while (at < to && tokens[at]?.kind === 'newline') at += 1;
  }
  return at >= to && at > from && tokens[from]?.text === '@';
}

export const textOf = ({ tokens }: TestSource, { from, to }: TestBlock): string => {
  let text = '';
  for (let at = from; at < to; at += 1) {
    const { text: word, kind, isFirst } = tokens[at]!;
    // A line end after `return` ends the statement.
    const isBroken =
      isFirst && /^(return|break|continue|throw|yield|async)$/.test(tokens[at - 1]?.text ?? '') && at > from;
    if (kind === 'newline' || (word === ';' && kind === 'sign')) {
      if (at < to - 1 && tokens[at + 1]?.kind !== 'close') text += '\n';
    } else text += `${isBroken ? '\n' : ''}${word}\u0000`;
  }
  return text;
};
