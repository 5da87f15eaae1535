import { expect, test } from 'vitest';
import { sessionWork } from './session-work.ts';

const task = (number: number, stage: string, title = `Task ${number}`) => ({ id: `t${number}`, number, stage, title });
const question = (ref: string, text: string, taskId: string | null = null) =>
  ({ ref, text, taskId, type: 'blocking' }) as const;

test('a session is told what needs the person and what is open, in at most ten lines, without secrets', () => {
  expect(sessionWork({ questions: [], tasks: [] })).toBe('');
  const few = sessionWork({
    questions: [question('Q1.1', 'Is token=hunter2 right?')],
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
    questions: Array.from({ length: 20 }, (_, index) => question(`Q${index}`, 'Which?\nNow')),
    tasks: ['blocked', 'implement', 'open'].flatMap((stage) =>
      Array.from({ length: 20 }, (_, index) => task(index, stage, 'x'.repeat(500))),
    ),
  });
  expect(many.trim().split('\n')).toHaveLength(10);
  expect(many).toContain('- 18 more questions (tidemill questions)');
  expect(many).toContain('- 20 waiting in the queue');
});

test('a session is told a task that asks by its question only, and no good news', () => {
  const questions = [
    question('Q1.1', '#1 Task 1 is stuck: no money\n\nWhat was tried:', 't1'),
    { ...question('Q1', '#3 Task 3 has landed'), type: 'celebratory' as const },
  ];
  const told = sessionWork({ questions, tasks: [task(1, 'blocked'), task(2, 'needs_info')] });
  expect(told.split('\n').slice(1)).toEqual([
    "- Q1.1 waits for the person's answer: #1 Task 1 is stuck: no money",
    '- #2 is needs_info: Task 2',
    '',
  ]);
});
