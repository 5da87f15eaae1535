import { expect, test } from 'vitest';
import { linesOf } from './token.ts';

test.each([
  ['x = 1 /*/ y */ z', ['y']],
  ['x */ 2 /* y */ z', ['y']],
  ['<!-- y --> z', ['y']],
])('a block comment ends at the first mark after its own opening: %s', (line, comments) => {
  const words = linesOf(line)[0]!.tokens.filter(({ text }) => /\w/.test(text));
  expect(words.filter(({ isComment }) => isComment).map(({ text }) => text)).toEqual(comments);
});
