import { expect, test } from 'vitest';
import { sessionWork } from './session-work.ts';

const task = (number: number, stage: string, title = `Task ${number}`) => ({ number, stage, title });

test('a session is told what needs the person and what is open, in at most ten lines, without secrets', () => {
  expect(sessionWork({ questions: [], tasks: [] })).toBe('');
  const few = sessionWork({
    questions: [{ ref: 'Q1.1', text: 'Is token=hunter2 right?' }],
    tasks: [task(3, 'open'), task(2, 'implement'), task(1, 'blocked')],
  });
  expect(few.split('\n').slice(1)).toEqual([
    "- Q1.1 waits for the person's answer: Is token=*** right?",
    '- #1 is blocked: Task 1',
    '- #2 is in implement: Task 2',
    '- 1 waiting in the queue (tidemill task list)',
    '',
  ]);
  const many = sessionWork({
    questions: Array.from({ length: 20 }, (_, index) => ({ ref: `Q${index}`, text: 'Which?\nNow' })),
    tasks: ['blocked', 'implement', 'open'].flatMap((stage) =>
      Array.from({ length: 20 }, (_, index) => task(index, stage, 'x'.repeat(500))),
    ),
  });
  expect(many.trim().split('\n')).toHaveLength(10);
  expect(many).toContain('- 18 more questions (tidemill questions)');
  expect(many).toContain('- 20 waiting in the queue');
});
