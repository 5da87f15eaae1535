import type { Task } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { Mill } from '../../../../../test/support/mill.ts';
import { relatedTasks } from './related-tasks.ts';

test('an agent is told the five newest tasks with the same files, the newest last, and none that were cancelled', async () => {
  const mill = new Mill();
  const made = Array.from({ length: 8 }, () => mill.task(mill.add()));
  const tasks = made.map(
    (task, at): Task => ({ ...task, files: ['src/a.ts'], stage: at === 6 ? 'cancelled' : 'open' }),
  );
  const store = { tasks: async (query: object) => ('waitingFor' in query ? [] : tasks.toReversed()) };
  const sources = { store, project: { id: 'project_1' }, workspace: {} } as unknown as Parameters<
    typeof relatedTasks
  >[0];
  const told = await relatedTasks(sources, tasks[7]!);
  expect(told.map(({ relation, number }) => [relation, number])).toEqual([2, 3, 4, 5, 6].map((n) => ['same files', n]));
});
