import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testChangeWhys } from './test-change.ts';

const JS = `import assert from 'node:assert';
import { area } from './area.js';

const SIZES = [
  [1, 1],
  [2, 4],
];

describe('area', () => {
  it('squares', () => {
    for (const [side, want] of SIZES) assert.equal(area(side), want);
  });

  it('refuses a negative side', () => {
    assert.throws(() => area(-1), /negative/);
    assert.equal(area(0), 0);
  });
});
`;
const PYTHON = `import pytest

from shapes import area


@pytest.mark.parametrize(
    "side, want",
    [
        (1, 1),
        (2, 4),
    ],
)
def test_area(side, want):
    assert area(side) == want


class TestNegative:
    def test_refused(self, client):
        with pytest.raises(ValueError):
            area(-1)
        assert client.errors == 1
`;
const GO = `package shapes

import (
	"testing"
)

func TestArea(t *testing.T) {
	cases := []struct{ side, want int }{
		{1, 1},
		{2, 4},
	}
	for _, c := range cases {
		if got := Area(c.side); got != c.want {
			t.Errorf("got %d", got)
		}
	}
}

func TestZero(t *testing.T) {
	if Area(0) != 0 {
		t.Fatal("zero")
	}
}

func ExampleArea() {
	fmt.Println(Area(3))
	fmt.Println("done")
	// Output: 9
	// done
}
`;
const RUST = `use shapes::area;

#[test]
fn squares() {
    assert_eq!(area(2), 4);
    assert_eq!(area(3), 9);
}

mod negative {
    use super::*;

    #[test]
    #[should_panic(expected = "negative")]
    fn refused<'a>() {
        area(-1);
    }
}
`;
const BATS = `setup() {
  DIR="$(mktemp -d)"
}

@test "prints the area" {
  run area 2
  [ "$status" -eq 0 ]
  [ "$output" = "4" ]
}
`;
const C = `#include <assert.h>
#include "area.h"

static void test_area(void) {
  assert(area(2) == 4);
  assert(area(3) == 9);
}

int main(void) {
  test_area();
  return 0;
}
`;
const FILES: Record<string, string> = {
  'area.test.js': JS,
  'tests/test_area.py': PYTHON,
  'area_test.go': GO,
  'tests/area.rs': RUST,
  'test/area.bats': BATS,
  'test/area_test.c': C,
};
type Edit = (text: string) => string;
const put =
  (at: string, text: string): Edit =>
  (old) =>
    old.replace(at, () => `${text}${at}`);
const swap =
  (from: string, to: string): Edit =>
  (old) =>
    old.replace(from, () => to);
const end =
  (text: string): Edit =>
  (old) =>
    `${old}\n${text}\n`;

const WEAKENED: [string, [string, Edit][]][] = [
  [
    'area.test.js',
    [
      ['a return between comments', put('    assert.equal(area(0)', '    /* a */ return; /* b */\n')],
      ['a return behind a Unicode line end', put('    assert.equal(area(0)', '    // x\u2028return;\n')],
      ['a comment over the assertion', swap('assert.equal(area(0), 0);', '/* assert.equal(area(0), 0); */')],
      ['a pattern that looks like a comment', put('    assert.equal(area(0)', '    /[/*]/; return; /[*/]/;\n')],
      ['a line end after return', swap('=> area(-1)', '=> { return\narea(-1) }')],
      ['a row removed', swap('  [2, 4],\n', '')],
      ['a row changed', swap('[2, 4]', '[2, area(2)]')],
      ['rows emptied by a spread', put('  [2, 4],', '  ...SIZES.splice(0),\n')],
      ['a hook', put("  it('squares'", '  beforeEach(() => {});\n')],
      ['patched assertions', put('describe(', 'assert.equal = () => {};\n')],
      ['a first test that patches', put('describe(', "it('a', () => { assert['equal'] = () => {}; });\n")],
      ['a test that copies over', put('describe(', "it('a', () => { Object.assign(assert, { equal() {} }); });\n")],
      ['a test with an alias', put('describe(', "it('a', () => { const x = assert; x.equal = () => {}; });\n")],
      ['a declaration that patches', put('describe(', 'const a = (assert.equal = () => {});\n')],
      ['a prototype', put('describe(', "it('a', () => { Array.prototype.forEach = () => {}; });\n")],
      ['a hidden subject', end('function area() {}')],
      ['an alias in the import', swap('{ area }', '{ area as real, fake as area }')],
      ['an import for what it does', put('import { area', "import './quiet.js';\n")],
      [
        'a group around',
        (old) => `${old.replace("describe('area'", "describe('x', () => { if (0) describe('area'")}});\n`,
      ],
      ['a default argument', swap("negative side', () =>", "negative side', (x = area) =>")],
      ['another name', swap("it('squares'", "its('squares'")],
      ['an environment', put('import assert', '/** @vitest-environment ./fake */\n')],
      ['a mock in a new test', end("it('m', () => { vi.mock('./area.js'); });")],
      ['a deleted assertion', put('describe(', "it('a', () => { delete assert.equal; });\n")],
      ['an assertion in a pattern', put('describe(', "it('a', () => { [assert.equal] = [() => {}]; });\n")],
      ['a named pattern', put('describe(', "it('a', () => { ({ a: assert.equal } = { a() {} }); });\n")],
      ['a loop that assigns', put('describe(', "it('a', () => { for (assert.equal of [() => {}]) break; });\n")],
      [
        'the library once more',
        put(
          'describe(',
          "it('a', async () => { const { default: x } = await import('node:assert'); x.equal = () => {}; });\n",
        ),
      ],
      [
        'the library by the process',
        put(
          'describe(',
          "it('a', () => { const x = process.getBuiltinModule('node:assert'); x.equal = () => {}; });\n",
        ),
      ],
      [
        'a getter on the library',
        put('describe(', "it('a', () => { assert.__defineGetter__('equal', () => () => {}); });\n"),
      ],
      ['an evaluation', put('describe(', "it('a', () => { (0, eval)('1'); });\n")],
      [
        'a changed order',
        (old) => {
          const first = "import { area } from './area.js';\n";
          return first + old.replace(first, '');
        },
      ],
      [
        'a template that swallows',
        (old) => old.replace('    assert.throws', '    `\n    assert.throws').replace('  });\n});', '`;  });\n});'),
      ],
    ],
  ],
  [
    'tests/test_area.py',
    [
      ['a return', put('        assert client', '        return\n')],
      ['a line that begins with a star', put('        assert client', '        *_, = [exit]\n')],
      ['an assertion moved into the block', swap('        assert client', '            assert client')],
      ['a comment', swap('    assert area(side)', '    pass  # assert area(side)')],
      ['a string', swap('    assert area(side) == want', '    """assert area(side) == want"""')],
      ['an indentation', swap('            area(-1)\n', '            pass\n        area(-1)\n')],
      ['a default argument', swap('def test_area(side, want)', 'def test_area(side, want=1)')],
      ['a row removed', swap('        (2, 4),\n', '')],
      ['a row joined', swap('(1, 1),\n        (2, 4),', '(1, 1) or\n        (2, 4),')],
      ['a decorator', put('def test_area', '@pytest.mark.usefixtures("quiet")\n')],
      ['a metaclass', swap('class TestNegative:', 'class TestNegative(metaclass=Quiet):')],
      ['the same name again', end('def test_area():\n    pass')],
      ['the same class again', end('class TestNegative:\n    pass')],
      ['the same method again', end('    def test_refused(self):\n        pass')],
      ['a fixture of that name', end('@pytest.fixture\ndef client():\n    return Fake()')],
      ['an automatic fixture', end('@pytest.fixture(autouse=True)\ndef quiet():\n    yield')],
      ['a method for set-up', end('    def setup_method(self):\n        pass')],
      ['a constructor', end('    def __getattribute__(self, name):\n        return print')],
      ['marks', end('pytestmark = quiet')],
      ['a patched module', end('import unittest\nunittest.TestCase.assertEqual = print')],
      ['a first test that patches', put('class Test', 'def test_a():\n    pytest.raises = quiet\n\n\n')],
      ['setattr', put('class Test', 'def test_a():\n    setattr(pytest, "raises", quiet)\n\n\n')],
      ['a hidden subject', end('def area(x):\n    return 1')],
      ['all names', put('class Test', 'from quiet import *\n\n\n')],
      ['an encoding', (old) => `# coding: utf-7\n${old}`],
      ['an early end', put('class Test', 'raise SystemExit\n\n\n')],
      ['a patch that stays', end('def test_b():\n    mock.patch("shapes.area").start()')],
      ['a table of names', end('def test_b():\n    vars(shapes).update(area=print)')],
      ['a module by its name', end('def test_b():\n    import sys\n    sys.modules["shapes"].area = print')],
      [
        'the tests of the session',
        end('def test_b(request):\n    for item in request.session.items:\n        item.runtest = print'),
      ],
      ['an end of the program', end('def test_b():\n    import atexit\n    atexit.register(quiet)')],
      ['another test', end('TestNegative.test_refused = test_area')],
      ['a deleted test', end('del TestNegative.test_refused')],
      ['a loop that assigns', end('def test_b():\n    for pytest.raises in [quiet]:\n        pass')],
      ['a tuple', swap('assert client.errors == 1', 'assert (client.errors == 1,)')],
    ],
  ],
  [
    'area_test.go',
    [
      ['a return', put('	if Area(0)', '	return\n')],
      ['a TestMain', end('func TestMain(m *testing.M) {\n}')],
      ['an init', end('func init() {\n}')],
      ['a row removed', swap('		{2, 4},\n', '')],
      ['a break', put('		if got', '		break\n')],
      ['a dot import', put('	"testing"', '	. "quiet"\n')],
      ['a side effect', put('	"testing"', '	_ "quiet"\n')],
      ['another name', swap('func TestZero', 'func testZero')],
      ['a name that the runner ignores', swap('func TestZero', 'func Testzero')],
      ['a build tag', (old) => `//go:build never\n\n${old}`],
      ['a hidden subject', end('func Area(x int) int { return x }')],
      ['a value that is computed', end('var _ = quiet()')],
      ['what an example prints', swap('// Output: 9', '// Output: 8')],
      ['an example that is not run', swap('	// Output: 9\n	// done\n', '')],
      ['a part of what it prints', swap('	// done\n', '')],
      [
        'a raw string',
        (old) => old.replace('	if Area(0)', '	_ = `\n	if Area(0)').replace('"zero")\n	}', '"zero")\n	}`'),
      ],
    ],
  ],
  [
    'tests/area.rs',
    [
      ['a return', put('    assert_eq!(area(3)', '    return;\n')],
      ['a nested comment', put('    assert_eq!(area(3)', '    /* /* */ */ return; /* */\n')],
      ['a cfg', put('#[test]\nfn squares', '#[cfg(any())]\n')],
      ['an attribute of the file', (old) => `#![cfg(any())]\n${old}`],
      ['a macro', (old) => `macro_rules! assert_eq { ($($t:tt)*) => {} }\n${old}`],
      ['the test mark removed', swap('#[test]\nfn squares', 'fn squares')],
      ['a wider panic', swap('#[should_panic(expected = "negative")]', '#[should_panic]')],
      ['a panic', put('        area(-1)', '        panic!("negative");\n')],
      ['a hidden subject', end('fn area(x: i32) -> i32 { x * x }')],
      ['a function of the system', end('#[no_mangle]\npub extern "C" fn abort() {}')],
      ['a raw string', swap('assert_eq!(area(3), 9);', 'r#"assert_eq!(area(3), 9);"#;')],
    ],
  ],
  [
    'test/area.bats',
    [
      ['a return', put('  [ "$output"', '  return\n')],
      ['an or', swap('[ "$output" = "4" ]', '[ "$output" = "4" ] || true')],
      ['a comment', swap('  [ "$output"', '  # [ "$output"')],
      ['a hook', end('teardown() {\n  true\n}')],
      ['a hidden command', end('run() {\n  status=0\n}')],
      ['a command', (old) => `alias run=true\n${old}`],
      ['another name', swap('@test "prints', 'test "prints')],
      ['a document', (old) => old.replace('  [ "$output"', '  : <<X\n  [ "$output"').replace('"4" ]\n', '"4" ]\nX\n')],
    ],
  ],
  [
    'test/area_test.c',
    [
      ['a macro', put('static void', '#define assert(x)\n')],
      ['no debug', (old) => `#define NDEBUG\n${old}`],
      ['an include', put('#include "area.h"', '#include "quiet.h"\n')],
      [
        'a condition',
        (old) => old.replace('  assert(area(3)', '#if 0\n  assert(area(3)').replace('== 9);', '== 9);\n#endif'),
      ],
      ['a comment that goes on', put('  assert(area(3)', '  // next: \\\n')],
      ['a return', put('  assert(area(3)', '  return;\n')],
      ['a call removed', swap('  test_area();\n', '')],
    ],
  ],
];

describe('a test that is weakened inside its file is reported', () => {
  for (const [path, edits] of WEAKENED)
    test.each(edits)(`in ${path}: %s`, (_name, edit) => {
      const old = FILES[path]!;
      expect(edit(old)).not.toBe(old);
      expect(testChangeWhys(path, old, edit(old))).not.toEqual([]);
    });
});

test('a row that is added to a list whose length a test compares is reported', () => {
  const old = JS.replace('assert.equal(area(0), 0)', 'assert.equal(area(0), SIZES.length - 2)');
  expect(testChangeWhys('area.test.js', old, swap('  [2, 4],\n', '  [2, 4],\n  [3, 9],\n')(old))).not.toEqual([]);
});

test('one more call of a macro that the file calls again and again is not reported', () => {
  const old = `${RUST}\nsquare!(one, 1);\nsquare!(two, 4);\n`;
  expect(testChangeWhys('tests/area.rs', old, `${old}square!(three, 9);\n`)).toEqual([]);
});

const ADDED: [string, [string, Edit][]][] = [
  [
    'area.test.js',
    [
      ['a case in the group', put("  it('refuses", "  it('is 0', () => {\n    assert.equal(area(0), 0);\n  });\n\n")],
      ['rows', swap('  [2, 4],\n', '  [2, 4],\n  [3, 9],\n')],
      [
        'an import and a group',
        (old) =>
          `import fs from 'node:fs';\n${old}\ndescribe('file', () => {\n  beforeEach(() => fs.rmSync('x'));\n  it('is read', () => {\n    let n = 0;\n    n += 1;\n    assert.ok(n);\n  });\n});\n`,
      ],
      ['a wider import', swap('{ area }', '{ area, round }')],
      ['a wrapped call', swap('area(-1), /negative/', '\n      area(-1),\n      /negative/,\n    ')],
      [
        'a case that swaps its own names',
        end("it('swaps', () => { let [a, b] = [1, 2]; [a, b] = [b, a]; assert.equal(area(a), 4); });"),
      ],
      ['a comment', put('    assert.throws', '    // why\n')],
      [
        'a loop of cases',
        end('for (const n of [1, 2]) {\n  it(`is ` + n, () => {\n    assert.equal(area(n), n * n);\n  });\n}'),
      ],
    ],
  ],
  [
    'tests/test_area.py',
    [
      [
        'a case with a wrapped signature',
        end('def test_zero(\n    client: Client, side: int = 0\n) -> None:\n    assert area(side) == 0'),
      ],
      ['a method', end('    @pytest.mark.asyncio\n    async def test_more(self):\n        assert area(2) == 4')],
      ['rows', put('        (2, 4),', '        (3, 9),\n')],
      [
        'imports and a helper',
        (old) => `import os\n${old}\n\nLIMIT = 3\n\n\ndef helper(x, y=LIMIT):\n    return os.path.join(x, y)\n`,
      ],
      ['a wrapped signature', swap('(side, want):', '(\n    side,\n    want,\n):')],
      ['a fixture with a new name', end('@pytest.fixture\ndef server():\n    yield 1')],
      [
        'imports for the type checker',
        (old) =>
          `from typing import TYPE_CHECKING\n${old.replace('\n\n\n@', '\n\nif TYPE_CHECKING:\n    from pathlib import Path\n\n\n@')}`,
      ],
    ],
  ],
  [
    'area_test.go',
    [
      [
        'a case and an import',
        (old) =>
          `${old.replace('"testing"', '"strings"\n	"testing"')}\nfunc TestText(t *testing.T) {\n	got := strings.Repeat("a", 2)\n	if got != "aa" {\n		t.Fatal(got)\n	}\n}\n`,
      ],
      ['a row', swap('{2, 4},', '{2, 4},\n		{3, 9}, // more')],
      ['an example', end('func ExampleZero() {\n	fmt.Println(Area(0))\n	// Output: 0\n}')],
      ['a typed variable', end('var mode fs.FileMode = 3')],
      ['a type with a method', end('type fake struct{}\n\nfunc (f fake) Close() error { return nil }')],
    ],
  ],
  [
    'tests/area.rs',
    [
      [
        'a case',
        end(
          '#[test]\n#[cfg(unix)]\nfn zero() {\n    let x: &\'static str = "{";\n    assert_eq!(area(0), 0, "{}", x);\n}',
        ),
      ],
      [
        'a case in the module',
        put('    #[test]\n    #[should', '    #[test]\n    fn more() {\n        assert!(area(1) == 1);\n    }\n\n'),
      ],
      ['a wider use', swap('use shapes::area;', 'use shapes::{area, round};')],
    ],
  ],
  ['test/area.bats', [['a case', end('@test "zero" {\n  run area 0\n  [ "$output" = "0" ]\n}')]]],
  [
    'test/area_test.c',
    [['a helper', put('static void', '#include <stdio.h>\n\nstatic int twice(int x) {\n  return 2 * x;\n}\n\n')]],
  ],
];

describe('an addition to a test file is not reported', () => {
  for (const [path, edits] of ADDED)
    test.each(edits)(`in ${path}: %s`, (_name, edit) => {
      const old = FILES[path]!;
      expect(edit(old)).not.toBe(old);
      expect(testChangeWhys(path, old, edit(old))).toEqual([]);
    });
});

test('a removed or altered line of any test file is reported', () => {
  const lines = Object.entries(FILES).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ path, text, index }])),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...lines),
      fc.constantFrom('removed', 'word', 'twice'),
      ({ path, text, index }, how) => {
        const all = text.split('\n');
        const line = all[index]!;
        const altered = line.replace(/\w+(?!.*\w)/, (word) => `${word}x`);
        if (how === 'word' && altered === line) return;
        all.splice(index, 1, ...(how === 'removed' ? [] : how === 'word' ? [altered] : [line, line]));
        // A second import or use of the same changes nothing.
        if (
          how === 'twice' &&
          /^(import|from|use|#include)|^ {2}test_area|^\s*("|\(|\{\d|\[\d)|^\s*(use|pass)\b/.test(line)
        )
          return;
        expect(testChangeWhys(path, text, all.join('\n')), `${path}:${index + 1} ${how}`).not.toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
