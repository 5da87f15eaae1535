import type { TaskSummary } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { conflictText, shapeOf } from './card-text.ts';

const task = (change: Partial<TaskSummary>) =>
  ({
    title: 'T',
    stage: 'review',
    openQuestions: [],
    after: [],
    unmet: 0,
    waiting: null,
    worker: null,
    ...change,
  }) as TaskSummary;

test.each<[Partial<TaskSummary>, string | null]>([
  [{ conflictsWith: [] }, null],
  [{ conflictsWith: [12] }, 'will conflict with #12'],
  [{ conflictsWith: [12, null] }, 'will conflict with #12, the target'],
  [{ conflictsWith: [1, 2, 3, 4, 5, 6] }, 'will conflict with #1, #2, #3, #4 and 2 more'],
  [{ conflictsWith: [12], stage: 'done' }, null],
])('a card names what its task will conflict with: %j', (change, text) => {
  expect(conflictText(task(change))).toBe(text);
  const plain = shapeOf(task({ conflictsWith: [] }), 200).height;
  expect(shapeOf(task(change), 200).height - plain).toBe(text === null ? 0 : 20);
});
