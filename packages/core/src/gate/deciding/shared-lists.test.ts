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

  test('may be a new test’s own, or only be read', () => {
    const own = `${JS}\ntest('b', () => {\n  const pairs = [];\n  pairs.push(1);\n  expect(pairs.length).toBe(1);\n});\n`;
    expect(testChangeWhys('a.test.js', JS, own)).toEqual([]);
    expect(
      testChangeWhys('a.test.js', JS, `${JS}\ntest('b', () => {\n  expect(pairs.map(f)).toEqual([1]);\n});\n`),
    ).toEqual([]);
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
