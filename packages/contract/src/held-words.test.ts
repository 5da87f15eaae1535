import { expect, test } from 'vitest';
import { alsoText, causesOf } from './held-words.ts';
import type { NeedsYou } from './view.ts';

const need = (number: number, why: string, holds: NeedsYou['holds'] = 'waiting'): NeedsYou => ({
  ...{ number, why, holds, title: `Task ${number}`, stage: 'verify', at: 'verify', command: '' },
});
const PREPARE = '`npm ci` failed: no network';

test('ten tasks that wait for one failed prepare step are one entry', () => {
  const causes = causesOf(Array.from({ length: 10 }, (_, index) => need(index + 1, PREPARE)));
  expect(causes).toMatchObject([{ number: 1, also: [2, 3, 4, 5, 6, 7, 8, 9, 10] }]);
  expect(alsoText(causes[0]!.also)).toBe(', also #2, #3, #4, #5, #6 and 4 more');
});

test('a cause that an alert tells is no entry of its own; other tasks are', () => {
  const needs = [need(1, PREPARE), need(2, PREPARE), need(3, PREPARE, 'question')];
  expect(causesOf(needs, [`${PREPARE}\nThe tasks wait.`]).map(({ number }) => number)).toEqual([3]);
  expect(causesOf(needs).map(({ number }) => number)).toEqual([1, 3]);
});
