import type { BlockPlace } from './compare.ts';
import { effectIn } from './effects.ts';
import { type Import, importOf } from './imports.ts';
import { itemsIn, type TestBlock, type TestSource } from './items.ts';
import { type Shape, shapeOf } from './shape.ts';
import { bodyOf, type Used } from './used.ts';

/** What is more than an addition, with the tokens that show it. */
export type BlockFinding =
  | { kind: 'changed'; old: number; now?: number }
  | { kind: 'lines' | 'around' | 'hides' | 'replaces' | 'effect'; now: number };

const PHP_TEST = /^\/\*\*(?!.*\?>)(?=[\s\S]*@(test|dataProvider|depends|testWith)\b)/;

export interface Around {
  used: Used;
  imported: ReadonlySet<string>;
  /** Lists and tables that the old blocks go through. */
  shared: ReadonlySet<string>;
  /** Packages that the old file imports by their own names: `import a.b` gives `a` no other meaning. */
  packages: ReadonlySet<string>;
  /** Names that the place defines already. */
  siblings: ReadonlySet<string>;
  /** What the old blocks there call, and how often: `check!(name, …)` may be the project's own form of a case. */
  callees: ReadonlyMap<string, number>;
  place: BlockPlace;
}

/** Why a new block is more than an addition; null when it is one. */
export function additionProblem(
  source: TestSource,
  item: TestBlock,
  shape: Shape,
  around: Around,
): BlockFinding | null {
  const problem = problemOf(source, item, shape, around);
  if (problem) return { kind: problem, now: shape.start < item.to ? shape.start : item.from };
  const effect = shape.kind === 'import' ? null : effectIn(source, item, around.imported, around.shared);
  return effect === null ? null : { kind: 'effect', now: effect };
}

function problemOf(
  source: TestSource,
  item: TestBlock,
  shape: Shape,
  around: Around,
): Exclude<BlockFinding['kind'], 'changed'> | null {
  const { used, siblings, place } = around;
  const { kind, names } = shape;
  if (place === 'body') return kind === 'case' && names.length === 0 ? null : 'lines';
  // What PHPUnit reads in the comment of a new test. A skip is found elsewhere.
  if (source.tokens[shape.start]?.kind === 'acting' && PHP_TEST.test(source.tokens[shape.start]!.text)) return null;
  // Ruby reopens a module that is there.
  if (kind === 'group' && source.tokens[shape.start]!.text === 'module' && source.language.lines === 'loose indent')
    return used.free.has(source.tokens[shape.start + 1]?.text ?? '') ? 'hides' : null;
  if (kind === 'other' && shape.callee && (around.callees.get(shape.callee) ?? 0) >= 2) return null;
  if (kind === 'other' && isText(source, item)) return null;
  if (kind === 'hook' || kind === 'other') return 'around';
  if (kind === 'import') {
    const made = importOf(source, { ...item, from: shape.start });
    if (made.isOpen) return 'around';
    const same = packagesOf(source, made);
    const hidden = made.names.some(
      (name) => used.free.has(name) && !(same.includes(name) && around.packages.has(name)),
    );
    return hidden ? 'hides' : null;
  }
  if (kind === 'loop')
    return isOnlyCases(source, item, around) || isForTypes(source, item, shape, around) ? null : 'around';
  if (names.some((name) => siblings.has(name))) return 'replaces';
  // A function named like what the old cases call: `function test() {}` is found before the runner's own.
  if (kind === 'case' && place === 'group' && names.some((name) => used.free.has(name))) return 'hides';
  if (kind === 'case' || kind === 'group') return null;
  const taken = place === 'class' ? used.all : used.free;
  if (names.some((name) => (name.includes('.') ? isMethodTaken(name, used) : taken.has(name)))) return 'hides';
  return names.length === 0 || names.includes('_') ? 'around' : null;
}

/** `a` for Python's `import a.b`. */
export const packagesOf = ({ language }: TestSource, { from, parts }: Import): string[] =>
  language.lines === 'indent' && from === ''
    ? parts.filter((part) => !/ as /.test(part)).map((part) => part.split(' ')[0]!)
    : [];

/** A method of a type that old tests use must not change how it behaves for them. */
function isMethodTaken(name: string, { free, all }: Used): boolean {
  const [type = '', method = ''] = name.split('.');
  return (
    free.has(type) &&
    (all.has(method) || /^(String|Error|Equal|Is|As|Cmp|Format|GoString|Unwrap|Marshal\w*|Unmarshal\w*)$/.test(method))
  );
}

/** Python's text below a name that it describes. */
function isText({ tokens, language }: TestSource, { from, to }: TestBlock): boolean {
  const words = tokens.slice(from, to).filter(({ kind }) => kind !== 'newline');
  return language.lines === 'indent' && words.length === 1 && /^[rub]{0,2}["']/i.test(words[0]!.text);
}

/** A loop or condition around new cases. */
const isOnlyCases = (source: TestSource, item: TestBlock, around: Around): boolean => {
  const kinds = kindsOfAdditions(source, item, around);
  return kinds.includes('case') || kinds.includes('group');
};

/** `if TYPE_CHECKING:` with imports, which also alone are additions. */
function isForTypes(source: TestSource, item: TestBlock, { start }: Shape, around: Around): boolean {
  const words = source.tokens.slice(start, start + 3).map(({ text }) => text);
  const kinds = kindsOfAdditions(source, item, around);
  return words.join(' ') === 'if TYPE_CHECKING :' && kinds.length > 0 && kinds.every((kind) => kind === 'import');
}

/** What is in the body of a statement, if all of it is an addition; otherwise nothing. */
function kindsOfAdditions(source: TestSource, item: TestBlock, around: Around): Shape['kind'][] {
  const body = bodyOf(source, item);
  if (body < 0 || source.partner[body]! < item.to - 2) return [];
  const items = itemsIn(source, body + 1, source.partner[body]!).map((each) => ({
    each,
    shape: shapeOf(source, each),
  }));
  const isAll = items.every(({ each, shape }) => additionProblem(source, each, shape, around) === null);
  return isAll ? items.map(({ shape }) => shape.kind) : [];
}
