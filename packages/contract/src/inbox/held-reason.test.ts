import { expect, test } from 'vitest';
import type { NeedsYou } from '../task/view.ts';
import { alsoText, causesOf, withoutTaskName } from './held-reason.ts';

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

test.each([
  ['#7 Sell bread: gate test failed', 'gate test failed'],
  ['#7 Sell bread is stuck: no money', 'stuck: no money'],
  ['#7: the agent proposes rye.', 'the agent proposes rye.'],
  ['#71 Sell bread is stuck', '#71 Sell bread is stuck'],
  ['Which flour for #7 Sell bread?', 'Which flour for #7 Sell bread?'],
])('a text beside its task does not name the task again: %s', (text, shown) => {
  expect(withoutTaskName(text, { number: 7, title: 'Sell bread' })).toBe(shown);
  expect(withoutTaskName(text, null)).toBe(text);
});
