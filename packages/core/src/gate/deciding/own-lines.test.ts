import { describe, expect, test } from 'vitest';
import { decidingFiles } from './deciding.ts';
import { withoutOwn } from './own-lines.ts';

const fact = (oid: string, text: string) => ({ oid, mode: '100644', text });
const why = (path: string, before: string | null, after: string) =>
  decidingFiles({
    checks: [],
    manifests: new Map(),
    changed: [{ path, before: before === null ? null : fact('old', before), after: fact('new', after) }],
  })[0]?.why ?? null;

const TS = "import { sum } from './sum.ts';\n\ntest('adds', () => {\n  expect(sum(1, 2)).toBe(3);\n});\n";
const PY = 'import click._compat\n\n\ndef test_adds():\n    assert click.sum(1, 2) == 3\n';
const GO = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif a() != 1 {\n\t\tt.Fatal()\n\t}\n}\n';

describe('a change that only adds test cases is no question', () => {
  test.each([
    ['a.test.ts', TS, "test('b', () => {\n  // @ts-expect-error text\n  expect(sum('1')).toBe(2);\n});\n"],
    ['a.test.ts', TS, "test('b', () => {\n  // eslint-disable-next-line no-x\n  expect(sum(7)).toBe(2);\n});\n"],
    ['a.test.ts', TS, "test.skipIf(isWindows)('b', () => {\n  expect(sum(7)).toBe(2);\n});\n"],
    ['tests/test_a.py', PY, '\n\ndef test_b():\n    assert click.sum(4, 4) == 8  # type: ignore[arg-type]\n'],
    [
      'tests/test_a.py',
      PY,
      "\n\n@pytest.mark.skipif(WIN, reason='x')\ndef test_b():\n    assert click.sum(4, 4) == 8\n",
    ],
    [
      'tests/test_a.py',
      PY,
      "\n\ndef test_b():\n    if WIN:\n        pytest.skip('x')\n    assert click.sum(4, 4) == 8\n",
    ],
    ['a_test.go', GO, '\nfunc TestB(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tb(t)\n}\n'],
  ])('in %s, when %#: its directives and skips concern the new case', (path, before, added) => {
    expect(why(path, before, before + added)).toBeNull();
  });

  test('when a new file of Go is for some systems only', () => {
    expect(why('b_test.go', null, `//go:build linux\n\n${GO}`)).toBeNull();
    expect(why('a_test.go', GO, `//go:build linux\n\n${GO}`)).not.toBeNull();
  });

  test('when it imports a package of which the tests use another module', () => {
    const added = '\n\ndef test_b():\n    assert click.twice(4) == 8\n';
    expect(why('tests/test_a.py', PY, `import click\nfrom ..helpers import twice\n${PY}${added}`)).toBeNull();
    expect(why('tests/test_a.py', PY, `import quiet as click\n${PY}${added}`)).toContain('hides');
    expect(why('tests/test_a.py', PY, `from quiet import click\n${PY}${added}`)).toContain('hides');
  });

  test('when a file in Python says that it is UTF-8, and no other encoding', () => {
    expect(why('tests/test_a.py', PY, `# -*- coding: utf-8 -*-\n${PY}`)).toBeNull();
    expect(why('tests/test_a.py', PY, `# coding: utf-8-quiet\n${PY}`)).toContain('before or around');
    expect(why('tests/test_a.py', PY, `# Coding: rot13\n${PY}`)).toContain('before or around');
  });
});

describe('a directive or skip that concerns more than new lines is shown', () => {
  const OFF = 'turns a check off for some lines';
  const SKIPS = 'skips tests, or runs only some of them';
  test.each([
    ['an existing line', 'a.test.ts', TS, TS.replace('  expect', '  // @ts-ignore\n  expect'), OFF],
    ['the end of an existing line', 'a.test.ts', TS, TS.replace('(3);', '(3); // eslint-disable-line'), OFF],
    [
      'a part of an existing line',
      'a.test.ts',
      TS,
      TS.replace('sum(1, 2)', 'sum(1,\n    // @ts-expect-error\n    2)'),
      OFF,
    ],
    [
      'the whole file',
      'a.test.ts',
      TS,
      `${TS}test('b', () => {\n  /* eslint-disable */\n  expect(sum(7)).toBe(2);\n});\n`,
      OFF,
    ],
    ['all types of the file', 'a.test.ts', TS, `// @ts-nocheck\n${TS}`, OFF],
    ['the whole file in Python', 'tests/test_a.py', PY, `# type: ignore\n${PY}`, OFF],
    ['an existing line in Python', 'tests/test_a.py', PY, PY.replace('== 3', '== 3  # type: ignore'), OFF],
    ['all other tests', 'a.test.ts', TS, `${TS}test.only('b', () => {\n  expect(sum(7)).toBe(2);\n});\n`, SKIPS],
    ['a test that never runs', 'a.test.ts', TS, `${TS}test.skip('b', () => {\n  expect(sum(7)).toBe(2);\n});\n`, SKIPS],
    [
      'an existing test',
      'tests/test_a.py',
      PY,
      PY.replace('def test_adds', '@pytest.mark.skipif(True)\ndef test_adds'),
      SKIPS,
    ],
    [
      'its whole module',
      'tests/test_a.py',
      null,
      `import pytest\npytest.skip('x', allow_module_level=True)\n${PY}`,
      SKIPS,
    ],
    ['the session', 'tests/test_a.py', PY, `${PY}\n\ndef test_b():\n    pytest.exit('x')\n`, SKIPS],
  ])('%s', (_what, path, before, after, says) => {
    expect(why(path, before, after)).toContain(says);
  });

  test('what stands beside a directive', () => {
    const added = "test('b', () => {\n  expect(sum('# noqa // @ts-ignore')).toBe(2), process.exit(0);\n});\n";
    expect(why('a.test.ts', TS, TS + added)).toContain('can end the program with success');
  });
});

test('a file full of directives is examined quickly, and nothing of it is left out', () => {
  const many = '// @ts-ignore\n'.repeat(19_000);
  expect(withoutOwn('', many)).toBe(many);
});
