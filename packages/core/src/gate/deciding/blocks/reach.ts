import { effectIn, isHarmless } from './effects.ts';
import { importOf } from './imports.ts';
import { itemsIn, type TestBlock, type TestSource } from './items.ts';
import { shapeOf } from './shape.ts';

const NOTHING: ReadonlySet<string> = new Set();
const OF_TESTS = /^(from|import) .*\b(test_\w+|\w+_test|tests?|conftest)\b/;

/**
 * The first token of a new test file that reaches the tests of other files: a hook for all of them, something imported that
 * gets another value while the file is loaded, or a test, a module or the runner that does so while it runs.
 */
export function reachOf(source: TestSource, path: string): number | null {
  const items = itemsIn(source, 0, source.tokens.length).map((item) => ({ item, shape: shapeOf(source, item) }));
  if (source.language.lines !== 'indent')
    return items.find(({ shape }) => shape.names.includes('TestMain'))?.item.from ?? null;
  const imports = items.filter(({ shape }) => shape.kind === 'import').map(({ item }) => importOf(source, item));
  const imported = new Set(imports.flatMap(({ names }) => names));
  const tests = new Set(imports.flatMap(({ from, parts, names }) => (isOfTests(from, parts) ? names : [])));
  for (const { item, shape } of items) {
    const { kind, names } = shape;
    if (kind === 'import') continue;
    if (names.includes('load_tests') && path.endsWith('__init__.py')) return item.from;
    const isLoaded = kind !== 'case' && kind !== 'function' && kind !== 'class' && kind !== 'hook';
    const effect = effectIn(source, item, isLoaded ? imported : tests, NOTHING);
    const isOfOwn = effect !== null && !isLoaded && isOnOwn(source, effect, imported);
    const found = effect === null || isOfOwn ? replacedIn(source, item, imported) : effect;
    if (found !== null) return found;
  }
  return null;
}

const isOfTests = (from: string, parts: readonly string[]) => OF_TESTS.test(`${from || 'import'} ${parts.join(' ')}`);

/** `setattr(thing, …)` with a thing that the test made. */
const isOnOwn = ({ tokens }: TestSource, at: number, imported: ReadonlySet<string>) =>
  tokens[at]!.text === 'setattr' &&
  tokens[at + 1]?.text === '(' &&
  tokens[at + 2]?.kind === 'word' &&
  !imported.has(tokens[at + 2]!.text);

/** `module.name = …` */
function replacedIn({ tokens }: TestSource, { from, to }: TestBlock, imported: ReadonlySet<string>): number | null {
  for (let at = from; at + 3 < to; at += 1) {
    const [module, dot, name, sign] = [at, at + 1, at + 2, at + 3].map((each) => tokens[each]!);
    if (!module!.isFirst || !imported.has(module!.text) || dot!.text !== '.' || name!.kind !== 'word') continue;
    if (isHarmless(`${module!.text}.${name!.text}`)) continue;
    if (sign!.text === '=' && /^(lambda|def)$|^\w+$/.test(tokens[at + 4]?.text ?? '')) return at;
  }
  return null;
}
