import { personActor, type Spec } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { expect, test } from 'vitest';
import { resumeSpec } from './spec.ts';

const by = personActor('ada');

test.each([
  ['its only task is blocked', ['blocked'], ['task.retry task_1']],
  ['it has no task yet', [], []],
  [
    'some were held back and one has landed',
    ['done', 'cancelled', 'blocked'],
    ['task.retry task_2', 'task.retry task_3'],
  ],
  ['a task that a person cancelled before stays cancelled', ['cancelled', 'cancelled'], ['task.retry task_2']],
])('a specification that is resumed tries again what stood still: %s', async (_name, stages, retried) => {
  const done: Command[] = [];
  const rows = stages.map((stage, at) => ({ id: `task_${at + 1}`, stage }));
  const store = {
    tasks: async ({ ids }: { ids: string[] }) => rows.filter(({ id }) => ids.includes(id)),
    executeAll: async (commands: Command[]) => {
      done.push(...commands);
      return { ok: true, replies: [] };
    },
  };
  const tasks = rows.map(({ id: taskId }) => ({ taskId }));
  const spec = { id: 'spec_1', projectId: 'project_1', held: ['task_2'], tasks } as unknown as Spec;
  await resumeSpec(store as unknown as Parameters<typeof resumeSpec>[0], spec, by);
  expect(done.map((each) => ('taskId' in each ? `${each.type} ${each.taskId}` : each.type))).toEqual([
    'spec.resume',
    ...retried,
  ]);
});
