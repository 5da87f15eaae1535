import { expect, test } from 'vitest';
import { comingFiles, comingSentence } from './forecast.ts';

const coming = (change: Partial<Parameters<typeof comingSentence>[0]>) => ({
  ...{ number: 12, title: 'T', stage: 'review', files: ['a.ts'], fileCount: 1, since: 0 },
  ...{ size: { files: 1, lines: 1 }, otherSize: null, landsFirst: false, holds: false, ...change },
});

test.each([
  [{}, 'will conflict with #12 in a.ts; this one is smaller and will be reworked'],
  [{ landsFirst: true }, 'will conflict with #12 in a.ts; #12 is smaller and will be reworked'],
  [{ holds: true }, 'will conflict with #12 in a.ts; waits while #12 is being built'],
  [{ number: null, title: null, stage: null }, 'will conflict with main in a.ts'],
])('a coming conflict is put into words: %j', (change, text) => {
  expect(comingSentence(coming(change), 'main')).toBe(text);
});

test('the words for a coming conflict name three files and count the rest', () => {
  expect(comingFiles({ files: ['a', 'b', 'c', 'd'], fileCount: 30 })).toBe('a, b, c and 27 more');
});
