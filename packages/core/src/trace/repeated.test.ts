import { expect, test } from 'vitest';
import { mayBeLesson } from './repeated.ts';

test.each([
  ['failure', 'gate:test:1a2b', true],
  ['failure', 'run:plan:crash', true],
  ['failure', 'run:implement:no_progress', false],
  ['failure', 'blocked:no_progress', false],
  ['correction', 'review:1a2b', true],
] as const)('a %s with the key %s may become a lesson: %s', (type, key, may) => {
  expect(mayBeLesson({ type, source: 'engine', key })).toBe(may);
});
