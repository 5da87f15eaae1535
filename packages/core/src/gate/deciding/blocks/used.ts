import { itemsIn, type TestBlock, type TestSource } from './items.ts';
import { shapeOf } from './shape.ts';
import { INDENT } from './tokens.ts';

export interface Used {
  /** Names that the blocks take from around them. */
  free: Set<string>;
  /** All words, also those after a dot. */
  all: Set<string>;
}

/** The names that existing blocks use. A new name must not hide one of them. */
export function usedNames(source: TestSource): Used {
  const used: Used = { free: new Set(), all: new Set() };
  collect(source, itemsIn(source, 0, source.tokens.length), used, 0);
  return used;
}

function collect(source: TestSource, items: TestBlock[], used: Used, depth: number): void {
  for (const item of items) {
    const { kind } = shapeOf(source, item);
    // The words of a Python import name modules, whatever names the file has.
    if (kind === 'import' && source.language.lines === 'indent') continue;
    const body = kind === 'group' || kind === 'class' ? bodyOf(source, item) : -1;
    if (body < 0 || depth > 10) addWords(source, item.from, item.to, used);
    else {
      addWords(source, item.from, body, used);
      collect(source, itemsIn(source, body + 1, source.partner[body]!), used, depth + 1);
    }
  }
}

/** The last block of an item: the body of a class, or of the function in a call. */
export function bodyOf({ tokens, partner }: TestSource, { from, to }: TestBlock): number {
  let found = -1;
  for (let at = from; at < to; at += 1) {
    const { kind, text } = tokens[at]!;
    if (kind !== 'open') continue;
    const previous = tokens[at - 1]?.text ?? '';
    if (text === INDENT || (text === '{' && at > from && previous !== '(' && previous !== ',' && previous !== '='))
      found = at;
    if (text !== '(' || found >= 0) at = partner[at]!;
  }
  return found;
}

function addWords(source: TestSource, from: number, to: number, { free, all }: Used): void {
  const { tokens } = source;
  const bound = boundIn(source, from, to);
  for (let at = from; at < to; at += 1) {
    const { kind, text } = tokens[at]!;
    // Code inside a string uses names too.
    if (kind === 'string' && /\$\{|#\{|^[a-zA-Z]{1,2}["']|\\\(/.test(text))
      for (const word of codeIn(text).match(/[A-Za-z_$][\w$]*/g) ?? []) free.add(word);
    if (kind !== 'word') continue;
    all.add(text);
    const previous = tokens[at - 1]?.text;
    const next = tokens[at + 1]?.text;
    const isMember = previous === '.' || previous === '?.' || previous === '->';
    const isKey = (previous === '{' || previous === ',') && next === ':';
    const isArgument = (previous === '(' || previous === ',') && next === '=' && source.language.lines === 'indent';
    if (!isMember && !isKey && !isArgument && !bound.has(text)) free.add(text);
  }
}

/** The part of a string that may be code: `f"…{name}…"`, `…${name}…`. */
const codeIn = (text: string) =>
  text.includes('\\(') ? text : text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1);

const BINDS = /^(const|let|var|function|class|def|fn|func|val|for|as|import|mut|lambda|type|interface)$/;

/** Names that a block declares for itself. Parameters of Python tests are no declarations: they name fixtures. */
export function boundIn({ tokens, partner, language }: TestSource, from: number, to: number): Set<string> {
  const bound = new Set<string>();
  const addGroup = (open: number) => {
    for (let at = open + 1; at < partner[open]!; at += 1)
      if (tokens[at]!.kind === 'word' && tokens[at - 1]!.text !== ':') bound.add(tokens[at]!.text);
  };
  for (let at = from; at < to; at += 1) {
    const { kind, text, isFirst } = tokens[at]!;
    const previous = at > from ? tokens[at - 1]!.text : '';
    const next = at + 1 < to ? tokens[at + 1]!.text : '';
    if (kind === 'open' && (text === '{' || text === '[') && /^(const|let|var)$/.test(previous)) addGroup(at);
    const isOfFunction = /^(function|func)$/.test(previous) || /^(function|func|fn)$/.test(tokens[at - 2]?.text ?? '');
    if (text === '(' && kind === 'open' && (isOfFunction || tokens[partner[at]! + 1]?.text === '=>')) addGroup(at);
    if (kind !== 'word') continue;
    if (BINDS.test(previous) || next === '=>' || next === ':=') bound.add(text);
    if (next === ',' || next === '=' || next === 'in') {
      const isStart = isFirst || previous === 'for' || (previous === ',' && bound.has(tokens[at - 2]?.text ?? ''));
      if (isStart && language.lines === 'indent') bound.add(text);
    }
    // `a, b := f()`
    if (next === ',' && previous !== ',' && language.lines === 'ends') {
      let end = at;
      while (tokens[end + 1]?.text === ',' && tokens[end + 2]?.kind === 'word') end += 2;
      if (tokens[end + 1]?.text === ':=') for (let each = at; each <= end; each += 2) bound.add(tokens[each]!.text);
    }
  }
  return bound;
}
