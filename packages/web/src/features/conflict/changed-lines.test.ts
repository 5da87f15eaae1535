import { expect, test } from 'vitest';
import { changedLines, matchLines } from './changed-lines.ts';

const LINES = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);

test('added, changed and moved lines are distinguished from unchanged ones', () => {
  expect([...(matchLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd']) ?? [])]).toEqual([0, -1, 2, -1]);
  expect([...(matchLines([], ['a']) ?? [])]).toEqual([-1]);
  expect(changedLines('a\nb\nc\n', 'b\nc\nnew\n')).toEqual(new Set([2]));
});

test('changes far apart in a long file are marked one by one', () => {
  const now = LINES.map((line, index) => (index % 500 === 7 ? `${line} changed` : line));
  expect([...changedLines(LINES.join('\n'), now.join('\n'))]).toEqual([...Array(10).keys()].map((at) => at * 500 + 7));
});

test('files that differ in most lines count as changed as a whole', () => {
  expect(
    matchLines(
      LINES,
      LINES.map((line) => `${line}!`),
    ),
  ).toBeNull();
});
