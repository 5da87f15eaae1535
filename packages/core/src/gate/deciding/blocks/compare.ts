import { additionProblem, type BlockFinding, packagesOf } from './addition.ts';
import { effectIn } from './effects.ts';
import { importOf } from './imports.ts';
import { itemsIn, type TestBlock, type TestSource, textOf } from './items.ts';
import { type Shape, shapeOf } from './shape.ts';
import { isTable, keyOf, rowsIn } from './table.ts';
import { INDENT } from './tokens.ts';
import { type Used, usedNames } from './used.ts';

/** Where additions are judged: the file or a group, a class, or the body of a test. */
export type BlockPlace = 'group' | 'class' | 'body';

const DEEPEST = 12;

/**
 * Compares two versions of a test file block by block. Every old block must be there, in its order, with the same tokens. Only
 * whole new cases, declarations, imports and rows may come in between. Returns the first thing that is more than that.
 */
export function compareSources(old: TestSource, now: TestSource): BlockFinding | null {
  return new Comparison(old, now).run();
}

/** The same for a file of the product that contains tests: its other code is left out. */
export function compareInlineTests(old: TestSource, now: TestSource): BlockFinding | null {
  return new Comparison(old, now).run(isTestItem);
}

/** A test, or what is compiled or run for tests only. */
function isTestItem(source: TestSource, item: TestBlock): boolean {
  const { kind, start, names } = shapeOf(source, item);
  const words = source.tokens.slice(item.from, Math.min(item.to, start + 8)).map(({ text }) => text);
  if (source.language.lines === 'braces') return words[0] === '#' && words.slice(0, start - item.from).includes('test');
  if (source.language.lines === 'indent') return names.some((name) => /^(test_|Test)/.test(name));
  return kind === 'loop' ? words.includes('vitest') : kind === 'case' || kind === 'group';
}

class Comparison {
  readonly #old: TestSource;
  readonly #now: TestSource;
  readonly #used: Used;
  /** Also the tests of the old file, where new code could give one of them other content. */
  readonly #imported: Set<string>;
  readonly #packages: Set<string>;
  readonly #shared: Set<string>;

  constructor(old: TestSource, now: TestSource) {
    this.#old = old;
    this.#now = now;
    this.#used = usedNames(old);
    this.#imported = new Set([old, now].flatMap((source) => importsOf(source).flatMap(({ names }) => names)));
    for (const name of ownTestsOf(old)) this.#imported.add(name);
    this.#shared = sharedIn(old);
    this.#packages = new Set(importsOf(old).flatMap((each) => packagesOf(old, each)));
  }

  run(isMeant: (source: TestSource, item: TestBlock) => boolean = () => true): BlockFinding | null {
    const whole = (source: TestSource) =>
      itemsIn(source, 0, source.tokens.length).filter((item) => isMeant(source, item));
    return this.#items(whole(this.#old), whole(this.#now), 'group', 0);
  }

  #items(old: TestBlock[], now: TestBlock[], place: BlockPlace, depth: number): BlockFinding | null {
    const shapes = now.map((item) => shapeOf(this.#now, item));
    const exact = placesOf(now.map((item) => textOf(this.#now, item)));
    const labelled = placesOf(shapes.map(({ label }) => label));
    const known = old.map((item) => shapeOf(this.#old, item));
    const siblings = new Set(known.flatMap(({ names }) => names));
    const callees = new Map<string, number>();
    for (const { callee } of known) if (callee) callees.set(callee, (callees.get(callee) ?? 0) + 1);
    const added: number[] = [];
    let at = 0;
    for (const item of old) {
      let index = next(exact, textOf(this.#old, item), at);
      if (index < 0) {
        const shape = shapeOf(this.#old, item);
        index = next(labelled, shape.label, at);
        if (index < 0) return { kind: 'changed', old: item.from };
        const problem = this.#same(item, now[index]!, shape, depth);
        if (problem) return problem;
      }
      for (; at < index; at += 1) added.push(at);
      at = index + 1;
    }
    for (; at < now.length; at += 1) added.push(at);
    const [used, imported, shared, packages] = [this.#used, this.#imported, this.#shared, this.#packages];
    const about = { used, imported, shared, packages, siblings, callees, place };
    for (const index of added) {
      const problem = additionProblem(this.#now, now[index]!, shapes[index]!, about);
      if (problem) return problem;
      for (const name of shapes[index]!.names) siblings.add(name);
    }
    return null;
  }

  /** Walks through two versions of one block. Some brackets may have more in them than before. */
  #same(old: TestBlock, now: TestBlock, shape: Shape, depth: number): BlockFinding | null {
    if (shape.kind === 'import') return this.#widened(old, now);
    const [a, b] = [this.#old, this.#now];
    const parents: number[] = [];
    let [i, j] = [old.from, now.from];
    while (i < old.to && j < now.to) {
      const [left, right] = [a.tokens[i]!, b.tokens[j]!];
      if (left.text !== right.text || left.kind !== right.kind || isBroken(a, i) !== isBroken(b, j))
        return { kind: 'changed', old: i, now: j };
      if (left.kind === 'close') parents.pop();
      const parent = parents.at(-1) ?? -1;
      const inner = left.kind === 'open' && depth < DEEPEST ? this.#inside(old, shape, i, parent) : null;
      if (inner !== null) {
        const problem = this.#extended(inner, i, j, depth + 1);
        if (problem) return problem;
        [i, j] = [a.partner[i]! + 1, b.partner[j]! + 1];
        continue;
      }
      if (left.kind === 'open') parents.push(i);
      [i, j] = [i + 1, j + 1];
    }
    const rest = (source: TestSource, from: number, to: number) => textOf(source, { from, to }).trim() === '';
    if (rest(a, i, old.to) && rest(b, j, now.to)) return null;
    return { kind: 'changed', old: Math.min(i, old.to - 1), now: Math.min(j, now.to - 1) };
  }

  #extended(inner: BlockPlace | 'rows', i: number, j: number, depth: number): BlockFinding | null {
    const [a, b] = [this.#old, this.#now];
    if (inner === 'rows') return this.#rows(i, j);
    return this.#items(itemsIn(a, i + 1, a.partner[i]!), itemsIn(b, j + 1, b.partner[j]!), inner, depth);
  }

  /** What may be added in this bracket; null: nothing. */
  #inside(item: TestBlock, shape: Shape, open: number, parent: number): BlockPlace | 'rows' | null {
    const { tokens, partner } = this.#old;
    const { text } = tokens[open]!;
    if (isTable(this.#old, item, shape, open, parent)) return 'rows';
    if (text === '(' && parent < 0 && /^(const|var|type)$/.test(tokens[shape.start]!.text) && open === shape.start + 1)
      return tokens.slice(open, partner[open]).some((token) => token.text === 'iota') ? null : 'group';
    if (text !== '{' && text !== INDENT) return null;
    const previous = tokens[open - 1]?.text ?? '';
    const isOfCall = parent >= 0 && (previous === '=>' || previous === ')');
    if (shape.kind === 'group') return parent < 0 || isOfCall ? 'group' : null;
    if (shape.kind === 'class' && parent < 0)
      return /^(mod|namespace|defmodule)$/.test(tokens[shape.start]!.text) ? 'group' : 'class';
    if (shape.kind === 'case') return parent < 0 || isOfCall ? 'body' : null;
    if (!isOfCall && parent >= 0) return null;
    const kinds = itemsIn(this.#old, open + 1, partner[open]!).map((each) => shapeOf(this.#old, each));
    // A function or a condition with cases in it; imports for the type checker.
    if (kinds.some(({ kind, names }) => kind === 'group' || (kind === 'case' && names.length === 0))) return 'group';
    return tokens[shape.start + 1]?.text === 'TYPE_CHECKING' && kinds.every(({ kind }) => kind === 'import')
      ? 'group'
      : null;
  }

  #rows(i: number, j: number): BlockFinding | null {
    const [a, b] = [this.#old, this.#now];
    const rows = rowsIn(b, j);
    const keys = new Set<string>();
    let at = 0;
    const added: TestBlock[] = [];
    for (const row of rowsIn(a, i)) {
      const text = textOf(a, row);
      let index = at;
      while (index < rows.length && textOf(b, rows[index]!) !== text) added.push(rows[index++]!);
      if (index === rows.length) return { kind: 'changed', old: row.from };
      keys.add(keyOf(a, row) ?? '');
      at = index + 1;
    }
    for (const row of [...added, ...rows.slice(at)]) {
      const key = keyOf(b, row);
      const isSpread = /^(\.\.\.|\*\*?)$/.test(b.tokens[row.from]!.text);
      if (isSpread || (key !== null && keys.has(key))) return { kind: 'replaces', now: row.from };
      const effect = effectIn(b, row, this.#imported, this.#shared);
      if (effect !== null) return { kind: 'effect', now: effect };
    }
    return null;
  }

  #widened(old: TestBlock, now: TestBlock): BlockFinding | null {
    const [before, after] = [importOf(this.#old, old), importOf(this.#now, now)];
    const known = new Set(before.parts);
    const parts = new Set(after.parts);
    const isWider =
      before.from === after.from && before.parts.every((part) => parts.has(part)) && before.isOpen === after.isOpen;
    if (!isWider) return { kind: 'changed', old: old.from, now: now.from };
    const hidden = after.parts.some((part, index) => !known.has(part) && this.#used.free.has(after.names[index]!));
    return hidden ? { kind: 'hides', now: now.from } : null;
  }
}

const importsOf = (source: TestSource) =>
  itemsIn(source, 0, source.tokens.length)
    .filter((item) => shapeOf(source, item).kind === 'import')
    .map((item) => importOf(source, item));

/** Functions of Python are also fixtures, which tests get as arguments and change. */
function ownTestsOf(source: TestSource): string[] {
  if (source.language.lines !== 'indent') return [];
  return itemsIn(source, 0, source.tokens.length)
    .map((item) => shapeOf(source, item))
    .flatMap(({ kind, names }) => (kind === 'class' || kind === 'case' ? names : []));
}

/** Names of the file itself, imported or declared, that stand alone as values: `of pairs)`, `each(cases, …)`. */
function sharedIn(source: TestSource): Set<string> {
  const { tokens } = source;
  const whole = itemsIn(source, 0, tokens.length).map((item) => shapeOf(source, item));
  const declared = whole.flatMap(({ kind, names }) => (kind === 'declaration' ? names : []));
  const own = new Set([...declared, ...importsOf(source).flatMap(({ names }) => names)]);
  const isAlone = (at: number) =>
    /^[(,=[]$|^(of|in)$/.test(tokens[at - 1]?.text ?? '') && /^[),\]:;]?$|^\n$/.test(tokens[at + 1]?.text ?? '');
  return new Set(tokens.flatMap(({ text }, at) => (own.has(text) && isAlone(at) ? [text] : [])));
}

const isBroken = ({ tokens }: TestSource, at: number): boolean =>
  tokens[at]!.isFirst && /^(return|break|continue|throw|yield|async)$/.test(tokens[at - 1]?.text ?? '');

interface Places {
  at: number[];
  /** Earlier ones are never asked for again. */
  done: number;
}

function placesOf(keys: string[]): Map<string, Places> {
  const places = new Map<string, Places>();
  keys.forEach((key, index) => {
    const known = places.get(key);
    if (known) known.at.push(index);
    else places.set(key, { at: [index], done: 0 });
  });
  return places;
}

/** The first place of the key that is not before `from`. */
function next(places: Map<string, Places>, key: string, from: number): number {
  const known = places.get(key);
  while (known && (known.at[known.done] ?? from) < from) known.done += 1;
  return known?.at[known.done] ?? -1;
}
