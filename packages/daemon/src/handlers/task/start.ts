import { AppError, type Task, workerName } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { executeTogether } from '../../engine/flows/atomic.ts';
import type { Services } from '../context.ts';
import { projectOf, summary, taskOf } from '../find.ts';
import type { Signed } from '../handler.ts';
import { meant } from '../worker/worker.ts';

/** Puts a task first in the queue, for a worker or for any. Repeating it is no error. */
export async function startTask(services: Services, input: Signed<'startTask'>) {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const [worker] = input.worker === null ? [] : await meant(services, project, input.worker);
  if (worker && worker.role !== 'builder')
    throw new AppError('bad_input', `${worker.name} does not build`, { hint: 'Name an agent such as agent-1.' });
  const holder = task.lease?.workerId;
  if (worker && holder !== undefined && holder !== worker.id)
    throw new AppError('conflict', `${workerName(holder)} works on #${task.number}`, {
      hint: `\`tidemill workers reassign ${task.number} ${worker.name}\` takes it away from there.`,
    });
  const obstacle = holder === undefined ? obstacleOf(task) : null;
  if (obstacle) throw obstacle;
  const about = { projectId: project.id, taskId: task.id, by: input.by };
  const commands: Command[] = [
    ...(holder === undefined && task.priority > 0
      ? [{ type: 'task.edit' as const, ...about, priority: 0 as const }]
      : []),
    ...(worker && task.assignee !== worker.id ? [{ type: 'task.assign' as const, ...about, workerId: worker.id }] : []),
  ];
  if (commands.length > 0) await executeTogether(services.store, commands);
  return summary(services.store, (await services.store.task(task.id))!);
}

function obstacleOf({ number, stage, role, blocked }: Task): AppError | null {
  const no = (text: string, hint: string) => new AppError('wrong_stage', `#${number} ${text}`, { hint });
  if (stage === 'done') return no('is done', 'Add a new task.');
  if (stage === 'cancelled') return no('is cancelled', `\`tidemill task retry ${number}\` opens it again.`);
  if (stage === 'blocked')
    return no(`is blocked: ${blocked?.text ?? ''}`, `\`tidemill task retry ${number}\` when that is settled.`);
  if (stage === 'needs_info') return no('waits for an answer', `\`tidemill task show ${number}\` has the question.`);
  if (role === null && stage !== 'open') return no(`waits for a person in ${stage}`, '`tidemill inbox` lists it.');
  return null;
}
