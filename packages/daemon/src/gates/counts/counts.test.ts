import { expect, it } from 'vitest';
import { excerptOf, LONGEST_EXCERPT, plainText } from '../excerpt.ts';
import { printedJUnit, readJUnit } from './junit.ts';
import { readPattern } from './pattern.ts';
import { readCounts } from './read-counts.ts';
import { SummaryLines } from './summary-lines.ts';

const counted = (text: string) => {
  const lines = new SummaryLines();
  lines.write(Buffer.from(text), 'stdout');
  return readCounts(lines.finish(text));
};

it.each([
  ['vitest', ' Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 2 skipped (8)\n', [5, 1, 2]],
  ['vitest, all well', '      Tests  5 passed (5)\n', [5, 0, 0]],
  ['vitest without files', 'No test files found, exiting with code 0\n', [0, 0, 0]],
  ['jest', 'Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total\n', [3, 1, 2]],
  ['jest without tests', 'No tests found, exiting with code 0\n', [0, 0, 0]],
  ['node:test, TAP', '# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n', [2, 1, 1]],
  ['node:test, spec', 'ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0\n', [2, 0, 0]],
  ['node:test without files', 'ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\nℹ cancelled 0\n', [0, 0, 0]],
  ['tape', 'ok 1 a\n1..1\n# tests 1\n# pass  1\n\n# ok\n', [1, 0, 0]],
  ['mocha', '\n  x\n    - b\n\n\n  2 passing (16ms)\n  1 pending\n  3 failing\n\n', [2, 3, 1]],
  ['ava', '  ─\n\n  1 test failed\n  2 tests passed\n  1 known failure\n  1 test skipped\n  1 test todo\n', [2, 1, 3]],
  ['tap', 'TAP version 14\n1..1\nok 1 - a.mjs # time=61ms\n\n# { total: 3, pass: 1, fail: 1, skip: 1 }\n', [1, 1, 1]],
  ['TAP of a script', '1..3\nok 1 a\nnot ok 2 b\nok 3 c # SKIP no network\n', [1, 1, 1]],
  ['bun', '\n 1 pass\n 1 skip\n 1 todo\n 0 fail\n 1 expect() calls\nRan 3 tests across 1 file. [17.00ms]\n', [1, 0, 2]],
  ['deno', '\u001b[0m\u001b[32mok\u001b[0m | 2 passed (3 steps) | 0 failed | 1 ignored \u001b[0m(32ms)\n', [2, 0, 1]],
  ['pytest', '=========== 1 failed, 2 passed, 3 skipped, 1 error in 0.12s ===========\n', [2, 2, 3]],
  ['pytest, expected failures', '=== 1 passed, 1 skipped, 1 xfailed, 2 deselected in 1.29s ===\n', [1, 0, 4]],
  ['pytest -q', '...\n3 passed in 0.01s\n', [3, 0, 0]],
  ['pytest without tests', '===== no tests ran in 2.02s =====\n', [0, 0, 0]],
  ['unittest', '..sx\n-----\nRan 4 tests in 0.001s\n\nOK (skipped=1, expected failures=1)\n', [2, 0, 2]],
  ['unittest, failed', 'Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=2)\n', [1, 3, 0]],
  ['unittest without tests', 'Ran 0 tests in 0.000s\n\nOK\n', [0, 0, 0]],
  [
    'cargo',
    'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored;\n',
    [6, 2, 1],
  ],
  ['nextest', '     Summary [   0.024s] 20 tests run: 18 passed (1 slow), 2 failed, 3 skipped\n', [18, 2, 3]],
  [
    'go',
    'ok  \texample.com/a\t(cached)\nFAIL\texample.com/b\t0.02s\n?   \texample.com/c\t[no test files]\n',
    [1, 1, 0],
  ],
  ['go without tests', 'ok  \tx/a\t0.01s [no tests to run]\n?   \tx/c\t[no test files]\n', [0, 0, 0]],
  ['go -v', '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\n', [1, 0, 1]],
  [
    'go -json',
    '{"Action":"output","Package":"a","Test":"TestA","Output":"x"}\n{"Action":"pass","Package":"a","Test":"TestA","Elapsed":0}\n{"Action":"pass","Package":"a"}\n',
    [1, 0, 0],
  ],
  [
    'dotnet',
    'Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 5 ms - a.dll\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3\n',
    [7, 1, 1],
  ],
  ['dotnet, one total', 'Test summary: total: 6, failed: 1, succeeded: 4, skipped: 1, duration: 1.2s\n', [4, 1, 1]],
  ['dotnet, several lines', 'Total tests: 6\n     Passed: 4\n     Failed: 1\n    Skipped: 1\n', [4, 1, 1]],
  [
    'maven',
    '[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n',
    [1, 0, 1],
  ],
  ['phpunit', 'OK (3 tests, 5 assertions)\n', [3, 0, 0]],
  ['phpunit, with failures', 'Tests: 5, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1.\n', [2, 2, 1]],
  ['phpunit without tests', 'No tests executed!\n', [0, 0, 0]],
  ['rspec', '5 examples, 1 failure, 1 pending\n', [3, 1, 1]],
  ['minitest', '3 runs, 3 assertions, 0 failures, 0 errors, 1 skips\n', [2, 0, 1]],
])('test counts are read from the summary of %s', (_runner, text, [passed, failed, skipped]) => {
  expect(counted(text)).toEqual({ passed, failed, skipped });
});

it('test counts are missing for an unknown summary', () => {
  expect(counted('all fine\n12 files checked in 3s\n')).toBeNull();
  expect(counted('Checked 5 files in 12ms. No fixes applied.\nAll checks passed!\n')).toBeNull();
  expect(counted('')).toBeNull();
});

const tapOf = (passed: number) => `# tests ${passed}\n# suites 0\n# pass ${passed}\n# fail 0\n`;

it('a summary that a test prints does not replace the summary of the runner', () => {
  expect(counted(`${tapOf(100)}ok 1 - a\n   Tests  100 passed (100)\nok 2 - b\n${tapOf(2)}`)?.passed).toBe(2);
});

it('the figures of several packages are added up', () => {
  const scripts = `\n> a@1.0.0 test\n> node --test\n\n${tapOf(2)}\n> b@1.0.0 test\n> jest\n\nTests:       3 passed, 3 total\n`;
  expect(counted(scripts)?.passed).toBe(5);
  const side = tapOf(2).replace(/^/gm, 'packages/a test: ').trimEnd().split('\n');
  const by = tapOf(4).replace(/^/gm, 'packages/b test: ').trimEnd().split('\n');
  expect(counted(side.flatMap((line, index) => [line, by[index]]).join('\n'))?.passed).toBe(6);
  expect(counted(tapOf(7).replace(/^/gm, 'web:test: '))?.passed).toBe(7);
});

it('the figures of a long output are complete, and of a very long one the last are read', () => {
  const lines = new SummaryLines();
  for (let index = 0; index < 100; index += 1) {
    lines.write(Buffer.from(`test result: ok. 1 passed; 0 failed; 0 ignored;\n${'x'.repeat(5_000)}\n`), 'stdout');
    lines.write(Buffer.from('y'.repeat(40_000)), 'stderr');
  }
  expect(readCounts(lines.finish(''))?.passed).toBe(100);
  const longer = new SummaryLines();
  const rest = `${'spam 1\n'.repeat(1_000_000)}${'x'.repeat(3_000_000)}\n${tapOf(3)}`;
  for (let at = 0; at < rest.length; at += 65_536) longer.write(Buffer.from(rest.slice(at, at + 65_536)), 'stdout');
  expect(readCounts(longer.finish(rest.slice(-200_000)))?.passed).toBe(3);
});

it('a JUnit report is read by its test cases', () => {
  const report = `<?xml version="1.0"?><testsuites tests="99"><testsuite name="a"><testcase name="1"/>
    <testcase name="2"><failure message="x">no</failure></testcase><testcase name="3"><skipped/></testcase>
    <testcase name="4"><system-out><![CDATA[<testcase name="fake"/>]]></system-out></testcase></testsuite></testsuites>`;
  expect(readJUnit(report)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  expect(printedJUnit(`built\n${report}\ndone\n`)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  expect(readJUnit('<testsuites tests="0"/>')).toEqual({ passed: 0, failed: 0, skipped: 0 });
  expect(readJUnit(report.slice(0, -30))).toBeNull();
  expect(printedJUnit('no report')).toBeNull();
});

it('the figures of a pattern are read line by line, and a line that takes too long gives none', () => {
  const pattern = 'checks: (?<passed>[\\d,]+) ok(?:, (?<failed>\\d+) bad)?';
  expect(readPattern('checks: 3 ok\nchecks: 1,204 ok, 2 bad\n', pattern)).toEqual({
    passed: 1204,
    failed: 2,
    skipped: 0,
  });
  expect(readPattern('nothing\n', pattern)).toBeNull();
  expect(readPattern(`${'a'.repeat(900)}!\n`, '^(?:a?){60}a{60}(?:a|aa)+(?<passed>\\d+)$')).toBeNull();
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

it('a forged summary after the one of the runner hides no passes where the highest counts', () => {
  const own = 'Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n';
  const lines = new SummaryLines();
  const text = `${own}\n\n\nnothing to see\n\nRan 3 tests in 0.001s\n\nFAILED (failures=3)\n`;
  lines.write(Buffer.from(text), 'stdout');
  const read = lines.finish(text);
  expect(readCounts(read)).toMatchObject({ passed: 0, failed: 3 });
  expect(readCounts(read, 'highest')).toMatchObject({ passed: 2, failed: 1 });
});
