import { AppError, type BulkResult, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Services } from '../context.ts';
import { projectOf, summaries } from '../find.ts';
import type { Signed } from '../handler.ts';

/** Applies one operation to many tasks. Each task is decided separately: a refusal does not affect the others. */
export async function bulkTasks(services: Services, input: Signed<'bulkTasks'>): Promise<BulkResult> {
  const { store } = services;
  const project = await projectOf(services, input.project);
  if (input.operation === 'prioritise' && input.priority === undefined)
    throw new AppError('bad_input', 'the priority is missing', { hint: 'Give one from 0, the most urgent, to 4.' });
  const numbers = [...new Set(input.tasks)];
  const found = new Map((await store.tasks({ projectId: project.id, numbers })).map((task) => [task.number, task]));
  const done: Task[] = [];
  const refused: BulkResult['refused'] = [];
  // In parallel: the store combines them into few transactions.
  const replies = await Promise.all(
    numbers.map(async (number) => {
      const task = found.get(number);
      return { number, reply: task ? await store.execute(commandFor(task, input)) : null };
    }),
  );
  for (const { number, reply } of replies) {
    if (reply?.ok) done.push(reply.task!);
    else if (reply) refused.push({ number, ...reply.refusal });
    else refused.push({ number, ...unknown(number, project.name) });
  }
  return { done: await summaries(store, done), refused };
}

const unknown = (number: number, project: string) => ({
  code: 'not_found' as const,
  message: `there is no task #${number} in ${project}`,
  hint: '`tidemill task list` shows them all.',
});

function commandFor({ id: taskId, projectId }: Task, { operation, by, priority }: Signed<'bulkTasks'>): Command {
  const of = { projectId, taskId, by };
  return operation === 'prioritise' ? { type: 'task.edit', ...of, priority } : { type: `task.${operation}`, ...of };
}
