import type { WorkflowFile } from '@tidemill/core';
import { expect, test } from 'vitest';
import { heldText, refusedFeedback } from './workflow-files.ts';

const files = (count: number): WorkflowFile[] =>
  Array.from({ length: count }, (_, at) => ({ file: `.github/${at + 1}.yml`, change: 'changed', content: `${at}` }));

test('an agent is told each file that GitHub runs and how it changed', () => {
  const told = refusedFeedback([...files(2), { file: 'action.yml', change: 'removed', content: 'c' }]);
  expect(told.text.split('\n').slice(1)).toEqual([
    '- .github/1.yml (changed)',
    '- .github/2.yml (changed)',
    '- action.yml (removed)',
  ]);
  expect(told.files).toEqual(['.github/1.yml', '.github/2.yml', 'action.yml']);
});

test('of more than fifty files that GitHub runs the rest are counted', () => {
  const lines = refusedFeedback(files(52)).text.split('\n').slice(1);
  expect(lines).toHaveLength(51);
  expect(lines.slice(-2)).toEqual(['- .github/50.yml (changed)', '- and 2 more']);
  expect(refusedFeedback(files(50)).text).not.toContain('more');
});

test('a person is told three of the files that wait for agreement, and how many more there are', () => {
  expect(heldText(files(3))).toContain('(.github/1.yml, .github/2.yml, .github/3.yml)');
  expect(heldText(files(5))).toContain('(.github/1.yml, .github/2.yml, .github/3.yml and 2 more)');
});
