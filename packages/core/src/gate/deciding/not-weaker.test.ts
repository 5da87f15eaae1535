import { describe, expect, test } from 'vitest';
import { decidingFiles } from './deciding.ts';

const fact = (oid: string, text: string) => ({ oid, mode: '100644', text });
type Change = [path: string, before: string, after: string];
const whyOf = (...changes: Change[]) =>
  decidingFiles({
    checks: [],
    manifests: new Map(),
    changed: changes.map(([path, before, after]) => ({ path, before: fact('old', before), after: fact('new', after) })),
  })
    .map(({ why }) => why)
    .join('; ') || null;

describe('a directive for one line', () => {
  const OLD = 'def clamp(self):\n    return self.limit(self.min, 1, self.open)  # type: ignore\n';
  const inSource = (before: string, after: string) => whyOf(['src/a.py', before, after]);
  const line = (text: string) => OLD.replace(/return .*/, text);

  test.each([
    ['turns off less than before', line('return self.limit(self.min, 1, self.open)  # type: ignore[arg-type]')],
    ['stays behind code that is nearly the same', line('return self.limit(min, 1, self.open)  # type: ignore')],
    ['moves with its line', `import os\n\n\n${OLD}`],
  ])('that %s is no question', (_, after) => {
    expect(inSource(OLD, after)).toBeNull();
  });

  const NARROW = OLD.replace('ignore', 'ignore[arg-type]');
  test.each([
    ['turns off more than before', NARROW, OLD],
    ['turns off something else', NARROW, OLD.replace('ignore', 'ignore[return-value]')],
    ['is of another tool', OLD, OLD.replace('type: ignore', 'noqa')],
    ['goes to other code', OLD, line('return unsafe(value).other  # type: ignore')],
    ['is one more', OLD, `${OLD}    again = self.limit(self.min, 1, self.open)  # type: ignore\n`],
    ['brings another one', OLD, OLD.replace('ignore', 'ignore[a]  # noqa')],
    ['is for the whole file', OLD, `# type: ignore\n${OLD.replace('  # type: ignore', '')}`],
  ])('that %s is shown', (_, before, after) => {
    expect(inSource(before, after)).toContain('turns a check off');
  });

  test('that is for the next line is shown where that line may be another', () => {
    const old = 'const a = b(c); // @ts-ignore\nd();\n';
    expect(whyOf(['src/a.ts', old, old.replace('b(c);', 'b(c, 1);')])).toContain('turns a check off');
  });
});

describe('other changes that make nothing weaker', () => {
  const AVA =
    "import test from 'ava';\nimport got from './got.js';\n\ntest('a', withServer, async t => {\n  t.is(await go(got), 1);\n});\n";

  test('a new case makes its own client from a shared one', () => {
    const added = "\ntest('b', async t => {\n  const own = got.extend({retry: 0});\n  t.is(await own(), 1);\n});\n";
    expect(whyOf(['test/create.ts', AVA, AVA + added])).toBeNull();
    expect(whyOf(['test/create.ts', AVA, AVA + added.replace('got.extend', 'got.push')])).toContain('changes what');
  });

  test('in a file of a test folder, directives and skips of new cases concern only these', () => {
    const added = "\ntest('b', async t => {\n  // @ts-expect-error text\n  t.is(await go('1'), 1);\n});\n";
    expect(whyOf(['test/create.ts', AVA, AVA + added])).toBeNull();
    // The next line has the words of an old one, but it is in the new case.
    const same = AVA.slice(AVA.indexOf('\ntest('))
      .replace("'a'", "'b'")
      .replace('  t.is', '  // @ts-expect-error a\n  t.is');
    expect(whyOf(['test/create.ts', AVA, AVA + same])).toBeNull();
    expect(whyOf(['test/create.ts', AVA, AVA.replace('\ntest(', '\n// @ts-ignore\ntest(') + same])).not.toBeNull();
    expect(whyOf(['test/create.ts', AVA + same, AVA.replace("'a'", "'c'") + AVA + same])).not.toBeNull();
    expect(whyOf(['test/create.ts', AVA, AVA.replace('  t.is', '  // @ts-expect-error text\n  t.is')])).not.toBeNull();
    expect(
      whyOf(['test/helper.ts', 'export const a = 1;\n', 'export const a = 1;\n// @ts-ignore\nb();\n']),
    ).not.toBeNull();
  });

  test('a case of mocha skips itself', () => {
    const old = "describe('a', function () {\n  it('b', function () {\n    ok(a());\n  });\n});\n";
    const put = (text: string) => whyOf(['test/a.js', old, old.replace('  });\n});', `  });\n${text}});`)]);
    expect(put("  it('c', function () {\n    if (isOld) this.skip();\n    ok(c());\n  });\n")).toBeNull();
    expect(put('  beforeEach(function () {\n    this.skip();\n  });\n')).not.toBeNull();
    expect(whyOf(['test/a.js', old, old.replace('ok(a', 'this.skip(); ok(a')])).not.toBeNull();
  });

  test('assertions of product code are no tests because a docstring has an example', () => {
    const old = 'def a(b):\n    """Adds.\n\n    Example::\n\n        a(1)\n    """\n    assert b\n    return b\n';
    expect(whyOf(['src/a.py', old, old.replace('    assert b\n', '')])).toBeNull();
  });

  test('the packages of a lock file have another order', () => {
    const part = (name: string) => `[[package]]\nname = "${name}"\nversion = "1.0"\nhash = "${name}1"\n\n`;
    const [own, a, b] = ['[[package]]\nname = "own"\nversion = "2.0"\n\n', part('a'), part('b')];
    const manifest = '[project]\nname = "own"\nversion = "2.0"\n';
    const now = (text: string) => text.replaceAll('2.0', '2.1');
    const lock = (before: string, after: string) =>
      whyOf(['uv.lock', `v = 1\n\n${before}`, `v = 1\n\n${after}`], ['pyproject.toml', manifest, now(manifest)]);
    expect(lock(own + a + b, now(own) + b + a)).toBeNull();
    expect(lock(own + a + b, now(own) + b)).toContain('what is installed');
    expect(lock(own + a + b, now(own) + b + a.replace('a1', 'a2'))).toContain('what is installed');
    expect(lock(own + a + b, now(own) + b + a + a)).toContain('what is installed');
  });
});
