import { itemsIn, type TestBlock, type TestSource, textOf } from './items.ts';

export interface Import {
  /** Where it imports from, and how. */
  from: string;
  /** Each imported thing, as written. */
  parts: string[];
  /** The names that it gives a meaning. */
  names: string[];
  /** Imports all names, or runs a module for what it does. */
  isOpen: boolean;
}

/** Reads an import statement of any language. */
export function importOf(source: TestSource, item: TestBlock): Import {
  const { tokens } = source;
  const words = tokens.slice(item.from, item.to).filter(({ kind, text }) => kind !== 'newline' && text !== ';');
  const texts = words.map(({ text }) => text);
  const first = texts[0] ?? '';
  if (words[0]?.kind === 'directive')
    return { from: first, parts: [], names: [], isOpen: !/^# ?include ?</.test(first) };
  if (source.language.lines === 'asi') return script(texts);
  if (source.language.lines === 'indent') return python(texts);
  if (first === 'use' && texts.includes('::')) return parted('use', expanded(texts.slice(1)));
  if (first === 'import' && texts[1] === '(') return goBlock(source, item);
  if (first === 'import' && words.some(({ kind }) => kind === 'string'))
    return parted(first, [texts.slice(1).join(' ')]);
  const isCall = /^require/.test(first);
  return { ...parted(first, [texts.slice(1).join(' ')]), isOpen: isCall || texts.includes('*') || texts.length < 2 };
}

/** The same as the global of that name. */
const BUILT_IN = /["'](node:)?(buffer|url|util|timers|perf_hooks|process|console)["']( \))?$/;

function script(texts: string[]): Import {
  const declared = /^(const|let|var)$/.test(texts[0]!) ? declarators(texts.slice(1)) : [];
  if (declared.length > 1) return chained(texts[0]!, declared);
  const end = texts.findLastIndex((text) => text === 'from' || text === '=');
  if (end < 0) return { from: texts.join(' '), parts: [], names: [], isOpen: true };
  const type = texts[1] === 'type' && texts[2] !== 'from' ? 1 : 0;
  const parts = split(texts.slice(1 + type, end).filter((text) => text !== '{' && text !== '}'));
  const from = `${texts[0]} ${type} ${texts.slice(end).join(' ')}`;
  // Only a plain `require('…')` is an import.
  const isPlain = texts[end] === 'from' || /^= require \( \S+ \)( \. \w+)*$/.test(texts.slice(end).join(' '));
  const made = parted(from, parts);
  return {
    ...made,
    names: BUILT_IN.test(texts.join(' ')) ? made.names.filter((name, index) => name !== parts[index]) : made.names,
    isOpen: made.isOpen || !isPlain,
  };
}

/** `var a = require('a'), b = require('b')`: each part is one of them. */
function chained(keyword: string, declared: string[]): Import {
  return {
    from: keyword,
    parts: declared,
    names: declared.map((each) => each.split(' ')[0]!),
    isOpen: declared.some((each) => !/^[\w$]+ = require \( \S+ \)( \. \w+)*$/.test(each)),
  };
}

/** Splits at the commas that are in no bracket. */
function declarators(texts: string[]): string[] {
  const found: string[][] = [[]];
  let depth = 0;
  for (const text of texts) {
    if (/^[([{]$/.test(text)) depth += 1;
    else if (/^[)\]}]$/.test(text)) depth -= 1;
    if (text === ',' && depth === 0) found.push([]);
    else found.at(-1)!.push(text);
  }
  return found.map((each) => each.join(' '));
}

function python(texts: string[]): Import {
  const at = texts.indexOf('import');
  const from = texts.slice(0, at).join(' ');
  const made = parted(from, split(texts.slice(at + 1).filter((text) => text !== '(' && text !== ')')));
  return at > 0
    ? made
    : { ...made, names: made.parts.map((part) => / as (\S+)$/.exec(part)?.[1] ?? part.split(' ')[0]!) };
}

function goBlock(source: TestSource, { from }: TestBlock): Import {
  const open = from + 1;
  const items = itemsIn(source, open + 1, source.partner[open]!);
  return parted(
    'import',
    items.map((item) => textOf(source, item).replaceAll('\0', ' ').trim()),
  );
}

const split = (texts: string[]): string[] =>
  texts
    .join(' ')
    .split(' , ')
    .map((part) => part.replace(/(^| ),$/, '').trim())
    .filter((part) => part !== '');

/** `a::{b, c::d}` as `a::b` and `a::c::d`. */
function expanded(texts: string[]): string[] {
  const parts: string[] = [];
  const prefixes = [''];
  let current = '';
  for (const text of texts) {
    if (text === '{') {
      prefixes.push(current);
    } else if (text === ',' || text === '}') {
      if (current !== prefixes.at(-1)) parts.push(current);
      if (text === '}') prefixes.pop();
      current = text === '}' ? '' : prefixes.at(-1)!;
    } else current += /^as$/.test(text) ? ' as ' : text;
  }
  return current === '' ? parts : [...parts, current];
}

function parted(from: string, parts: string[]): Import {
  const names = parts.map((part) => {
    const alias = / (?:as|:) (\S+)$|^(\S+) ["`']/.exec(part);
    const name = alias?.[1] ?? alias?.[2] ?? part;
    // The last step of a path: `a::b`, `a.b`, "example.org/go-b/v2".
    return (
      name
        .replace(/["'`;]/g, '')
        .replace(/\/v\d+$/, '')
        .split(/[\s:./\\]+|go-(?=\w+$)/)
        .findLast((step) => step !== '') ?? ''
    );
  });
  const isOpen =
    parts.length === 0 || parts.some((part) => /(^|[^\w])\*( *$)|^[_.] /.test(part)) || names.includes('_');
  return { from, parts, names, isOpen };
}
