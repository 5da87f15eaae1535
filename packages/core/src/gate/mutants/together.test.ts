import { expect, test } from 'vitest';
import { linePairs } from './line-pairs.ts';
import { brokenTogether } from './together.ts';

const lines = (text: string) => text.trim().split('\n');

test('lines of two versions are paired where they are the same, and where one took the place of another', () => {
  expect(linePairs(['a', 'b', 'c', 'd', 'e'], ['a', 'x', 'c', 'y', 'd', 'e'])).toEqual({
    kept: [
      [0, 0],
      [2, 2],
      [3, 4],
      [4, 5],
    ],
    replaced: [{ before: [1], after: [1] }],
  });
  expect(linePairs(['a', 'b'], ['a'])).toEqual({ kept: [[0, 0]], replaced: [] });
});

test('shared and changed lines are broken in both versions, and added ones are not', () => {
  const before = 'def total(a, b):\n    return a + b\n\n\ndef odd(n):\n    return n % 2 == 1\n';
  const after = `${before.replace('a + b', 'Exact(a + b)')}\n\nclass Exact(int):\n    def __eq__(self, other):\n        return True\n`;
  const broken = brokenTogether('a.py', { before, after }, ({ after: text }) => (/None| != /.test(text) ? '0' : '1'))!;
  // An empty result is planted only where there is no other fault: assertions that let all numbers pass notice it.
  expect(lines(broken.before).filter((line) => line.includes('return'))).toEqual([
    '    return a - b',
    '    return n % 2 != 1',
  ]);
  expect(lines(broken.after).filter((line) => line.includes('return'))).toEqual([
    ...['    return Exact(a - b)', '    return n % 2 != 1', '        return True'],
  ]);
});

test('code that moved, or whose new form has nothing to break, stays as it is in both versions', () => {
  const before = 'fn a() -> i32 {\n    1 + 1\n}\nfn b() -> i32 {\n    2 + 2\n}\n';
  const moved = 'fn b() -> i32 {\n    2 + 2\n}\nfn a() -> i32 {\n    1 + 1\n}\n';
  const broken = brokenTogether('a.rs', { before, after: moved }, ({ after }) => after)!;
  expect(lines(broken.before)).toContain('    1 + 1');
  expect(lines(broken.after)).toContain('    1 + 1');
  const called = before.replace('1 + 1', 'one()');
  expect(lines(brokenTogether('a.rs', { before, after: called }, ({ after }) => after)!.before)).toContain('    1 + 1');
  expect(brokenTogether('a.rs', { before: 'use a;\n', after: 'use b;\n' }, () => '')).toBeNull();
});
