import { expect, it } from 'vitest';
import { readCounts } from './counts.ts';
import { excerptOf, LONGEST_EXCERPT, plainText } from './excerpt.ts';

it.each([
  ['vitest', ' Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 2 skipped (8)\n', [5, 1, 2]],
  ['vitest, all well', '      Tests  5 passed (5)\n', [5, 0, 0]],
  ['jest', 'Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total\n', [3, 1, 2]],
  ['node:test, TAP', '# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n', [2, 1, 1]],
  ['node:test, spec', 'ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0\n', [2, 0, 0]],
  ['pytest', '=========== 1 failed, 2 passed, 3 skipped, 1 error in 0.12s ===========\n', [2, 2, 3]],
  ['pytest -q', '...\n3 passed in 0.01s\n', [3, 0, 0]],
  [
    'cargo',
    'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored;\n',
    [6, 2, 1],
  ],
  ['go', 'ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.02s\n?   \texample.com/c\t[no test files]\n', [1, 1, 1]],
  ['go -v', '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\n', [1, 0, 1]],
])('test counts are read from the summary of %s', (_runner, text, [passed, failed, skipped]) => {
  expect(readCounts(text)).toEqual({ passed, failed, skipped });
});

it('test counts are missing for an unknown summary', () => {
  expect(readCounts('all fine\n12 files checked in 3s\n')).toBeNull();
  expect(readCounts('')).toBeNull();
});

it('the excerpt of an output shows the end and the error lines before it', () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`);
  lines[17] = 'src/a.ts(3,1): error TS2322: wrong';
  const excerpt = excerptOf('It failed with exit code 2.', lines.join('\n'));
  expect(excerpt.length).toBeLessThanOrEqual(LONGEST_EXCERPT);
  expect(excerpt).toMatch(/^It failed with exit code 2\.\nsrc\/a\.ts/);
  expect(excerpt).toMatch(/line 4999$/);
  expect(excerptOf('x', 'y'.repeat(100_000)).length).toBeLessThanOrEqual(LONGEST_EXCERPT);
});

it('colours and overwritten progress lines are stripped from an output', () => {
  expect(plainText('\u001b[31mred\u001b[0m\r\n10%\r50%\rdone\n')).toBe('red\ndone\n');
});
