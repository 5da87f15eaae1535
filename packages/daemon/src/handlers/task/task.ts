import { AppError, type Project, type RouteRequest, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Call, Services } from '../context.ts';
import { projectOf, summaries, summary, taskOf, unwrap } from '../find.ts';
import type { Signed } from '../handler.ts';
import { createTask, creationOf, newTaskId } from './create.ts';
import { checkProposed } from './proposed.ts';

export async function addTask(services: Services, input: RouteRequest<'addTask'>, _signal: AbortSignal, call: Call) {
  const project = await projectOf(services, input.project);
  checkProposed(call.caller, project, input);
  const dependsOn = await idsOf(services, project, input.after);
  const taskId = newTaskId(services, project.id, call);
  const task = await createTask(services, creationOf(project.id, taskId, dependsOn, input), call.idempotencyKey);
  return summary(services.store, task);
}

export async function listTasks(services: Services, input: RouteRequest<'tasks'>) {
  const project = await projectOf(services, input.project);
  const { stages, search, afterNumber, newestFirst, limit } = input;
  const query = { projectId: project.id, stages, search, afterNumber, newestFirst, limit };
  return summaries(services.store, await services.store.tasks(query));
}

export async function editTask(services: Services, input: Signed<'editTask'>) {
  const { project: _project, task: _task, ...edit } = input;
  return act(services, input, (task) => ({ type: 'task.edit', taskId: task.id, ...edit }));
}

export async function noteTask(services: Services, input: Signed<'noteTask'>) {
  const { by, text } = input;
  return act(services, input, (task) => ({ type: 'task.note', taskId: task.id, by, text }));
}

export async function cancelTask(services: Services, input: Signed<'cancelTask'>) {
  const { by } = input;
  return act(services, input, (task) => ({ type: 'task.cancel', taskId: task.id, by }));
}

export async function retryTask(services: Services, input: Signed<'retryTask'>) {
  const { note, stage, by } = input;
  return act(services, input, (task) => ({ type: 'task.retry', taskId: task.id, by, note, stage }));
}

export async function approveTask(services: Services, input: Signed<'approveTask'>) {
  const { note, by } = input;
  return act(services, input, (task) => ({ type: 'task.approve', taskId: task.id, by, note }));
}

export async function rejectTask(services: Services, input: Signed<'rejectTask'>) {
  const { note, by } = input;
  return act(services, input, (task) => ({ type: 'task.reject', taskId: task.id, by, note }));
}

export async function setDependencies(services: Services, input: RouteRequest<'setDependencies'>) {
  const project = await projectOf(services, input.project);
  const dependsOn = await idsOf(services, project, input.after);
  return act(services, input, (task) => ({ type: 'task.set_dependencies', taskId: task.id, dependsOn }));
}

type TaskCommand = Extract<
  Command,
  {
    type: `task.${'edit' | 'note' | 'cancel' | 'retry' | 'approve' | 'reject' | 'set_dependencies'}`;
  }
>;

async function act(
  services: Services,
  input: { project: string; task: string },
  command: (task: Task) => Omit<TaskCommand, 'projectId'>,
) {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const reply = unwrap(await services.store.execute({ ...command(task), projectId: project.id } as Command));
  return summary(services.store, reply.task!);
}

/** Translates task numbers into ids. An unknown number is refused. */
async function idsOf(services: Services, project: Project, numbers: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const number of new Set(numbers)) {
    const task = await services.store.taskByNumber(project.id, number);
    if (!task) {
      throw new AppError('not_found', `there is no task #${number} to wait for`, {
        hint: '`tidemill task list` shows the numbers.',
      });
    }
    ids.push(task.id);
  }
  return ids;
}
