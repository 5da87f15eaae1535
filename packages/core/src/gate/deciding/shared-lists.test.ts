import { describe, expect, test } from 'vitest';
import { inlineTestWhys, testChangeWhys } from './test-change.ts';

describe('a list that tests share', () => {
  const JS =
    "import { pairs } from './helper.js';\n\ntest('a', () => {\n  for (const [a, b] of pairs) expect(f(a)).toBe(b);\n});\n";
  const PY = 'CASES = [(1, 2), (2, 3)]\n\n\ndef test_all():\n    for a, b in CASES:\n        assert f(a) == b\n';

  test('must not be emptied by a new test', () => {
    const emptied = JS.replace(
      "test('a'",
      "test('first', () => {\n  expect(pairs.splice(0).length).toBe(2);\n});\n\ntest('a'",
    );
    expect(testChangeWhys('a.test.js', JS, emptied)[0]).toContain('changes what other tests use');
    const cleared = PY.replace(
      'def test_all',
      'def test_first():\n    CASES.clear()\n    assert f(1) == 2\n\n\ndef test_all',
    );
    expect(testChangeWhys('test_a.py', PY, cleared)[0]).toContain('changes what other tests use');
  });

  test.each([
    ['ends', "test('first', () => {\n  pairs.length = 0;\n});\n\n"],
    ['is replaced in part', "test('first', () => {\n  pairs[0] = [1, 2];\n});\n\n"],
    ['gets a second name and ends', "test('first', () => {\n  const all = pairs;\n  all.length = 0;\n});\n\n"],
    [
      'gets a second name and is one of the file',
      "test('first', () => {\n  const all = list;\n  all.length = 0;\n});\n\n",
    ],
  ])('must not be shortened by a new test in which it %s', (_, added) => {
    const js = JS.replace(
      "test('a'",
      "const list = pairs.slice();\n\ntest('own', () => {\n  for (const a of list) f(a);\n});\n\ntest('a'",
    );
    expect(testChangeWhys('a.test.js', js, js.replace("test('a'", `${added}test('a'`))[0]).toContain(
      'changes what other tests use',
    );
  });

  test('may be a new test’s own, or only be read', () => {
    const own = `${JS}\ntest('b', () => {\n  const pairs = [];\n  pairs.push(1);\n  expect(pairs.length).toBe(1);\n});\n`;
    expect(testChangeWhys('a.test.js', JS, own)).toEqual([]);
    expect(
      testChangeWhys('a.test.js', JS, `${JS}\ntest('b', () => {\n  expect(pairs.map(f)).toEqual([1]);\n});\n`),
    ).toEqual([]);
  });
});

describe('the class of a Python test', () => {
  const PY =
    'import unittest\n\n\nclass SumTest(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1, 1)\n';
  const whys = (body: string) => testChangeWhys('test_a.py', PY, `${PY}\n    def test_aaa(self):\n        ${body}\n`);

  test.each([
    'kind = type(self)\n        kind.assertEqual = kind.assertIsNotNone',
    'kind = SumTest\n        kind.assertEqual = kind.assertIsNotNone',
    'lib = unittest\n        lib.TestCase.assertEqual = None',
    'blind(self.__class__)',
    'for kind in [type(self)]:\n            blind(kind)',
  ])('must not be handed on by a new test: %s', (body) => {
    expect(whys(body)[0]).toContain('changes what other tests use');
  });

  test('may be read', () => {
    expect(whys('self.assertEqual(type(self).__name__, "SumTest")\n        kind = type(1)')).toEqual([]);
  });
});

describe('tests inside a source file', () => {
  const RUST = `pub fn total(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        let got = total(2, 3);
        assert_eq!(got, 5);
    }
}
`;
  test.each([
    ['a line that is no assertion changes', 'let got = total(2, 3);', 'let got = 5;'],
    ['a test ends early', 'fn adds() {\n', 'fn adds() {\n        return;\n'],
    [
      'a helper hides what is tested',
      '    use super::*;\n',
      '    use super::*;\n    fn total(a: i32, b: i32) -> i32 { a + b }\n',
    ],
    ['the module is not compiled', '#[cfg(test)]\nmod', '#[cfg(all(test, any()))]\nmod'],
    ['a test is never run', '    #[test]\n', '    #[cfg_attr(not(test), test)]\n'],
  ])('are changed when %s', (_name, from, to) => {
    const after = RUST.replace(from, to);
    expect(after).not.toBe(RUST);
    expect(inlineTestWhys('src/lib.rs', RUST, after)).toHaveLength(1);
  });

  test('are not changed by other code, or by more tests', () => {
    expect(inlineTestWhys('src/lib.rs', RUST, RUST.replace('    a + b', '    b + a'))).toEqual([]);
    const more = RUST.replace(
      '    #[test]',
      '    #[test]\n    fn adds_nothing() {\n        assert_eq!(total(1, 0), 1);\n    }\n\n    #[test]',
    );
    expect(inlineTestWhys('src/lib.rs', RUST, more)).toEqual([]);
  });
});
