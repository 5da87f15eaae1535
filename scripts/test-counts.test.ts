import { expect, test } from 'vitest';
import type { FileCounts, TestCounts } from './count-reporter.ts';
import { failedFiles, judge, vanished, withSecondTry } from './test-counts.ts';

const file = (name: string, failed: string[], passed = 3): FileCounts => ({
  file: name,
  passed,
  failed,
  skipped: [],
  tests: [],
  ms: 1,
});
const run = (...files: FileCounts[]) => ({ files, unhandled: 0 });

test('a test that fails and then passes alone counts as passed, and is named', () => {
  const first = run(file('a', ['a > one', 'a > two'], 1), file('b', []));
  expect(failedFiles(first)).toEqual(['a']);
  const { tests, unstable } = withSecondTry(first, run(file('a', [], 3)));
  expect(unstable).toEqual(['a > one', 'a > two']);
  expect(tests).toEqual(run(file('a', [], 3), file('b', [])));
});

test('a test that fails twice has failed', () => {
  const first = run(file('a', ['a > one'], 2));
  const { tests, unstable } = withSecondTry(first, run(file('a', ['a > one'], 2)));
  expect(unstable).toEqual([]);
  expect(tests).toEqual(first);
});

test('many failed files are not run again, and neither is a run with an error of no file', () => {
  expect(failedFiles(run(...['a', 'b', 'c', 'd', 'e'].map((name) => file(name, ['x']))))).toEqual([]);
  expect(failedFiles({ files: [file('a', ['x'])], unhandled: 1 })).toEqual([]);
});

test('a run without a report, without a test, or that ends badly without a failed test has failed', () => {
  const said: string[] = [];
  const errors = (counts: TestCounts | null, exitCode: number) =>
    judge(counts, exitCode, (text) => said.push(text)).unhandled;
  expect(errors(null, 1)).toBe(1);
  expect(errors(run(), 0)).toBe(1);
  expect(errors(run(file('a', [])), 1)).toBe(1);
  expect(said).toHaveLength(3);
  expect(errors(run(file('a', ['x'])), 1)).toBe(0);
  expect(errors(run(file('a', [])), 0)).toBe(0);
  expect(said).toHaveLength(3);
});

const SKIPPED = { titles: ['the page', 'shows a task'], state: 'skipped' as const };
const skipping = run({ ...file('a', []), skipped: [{ name: 'a > one', reason: 'no browser' }], tests: [SKIPPED] });

test('a skipped test is a failure in CI, and nowhere else', () => {
  expect(vanished(skipping, [], false)).toEqual([]);
  expect(vanished(skipping, [], true)).toEqual(['in CI every test must run; skipped: 1']);
  expect(vanished(run(file('a', [])), [], true)).toEqual([]);
});

test('a criterion whose tests were all skipped is a failure everywhere', () => {
  const criterion = { id: 'R-1', requirement: 'is shown', proofs: [{ file: 'a', test: 'shows a task' }] };
  expect(vanished(skipping, [criterion], false)).toEqual([expect.stringContaining('R-1 has no proof in this run')]);
});
