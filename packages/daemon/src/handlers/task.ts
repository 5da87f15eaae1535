import { AppError, type Project, type RouteRequest, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { projectOf, summaries, summary, taskOf, unwrap } from './answer.ts';
import type { Call, Services } from './context.ts';
import { createTask, newTaskId } from './create.ts';

/** Commands of a person carry this; with more than one person at a daemon it becomes a name. */
const BY = 'person';

export async function addTask(
  services: Services,
  input: RouteRequest<'addTask'>,
  _signal: AbortSignal,
  { idempotencyKey: key }: Call,
) {
  const project = await projectOf(services, input.project);
  const { pipeline, title, body, kind, accept, files, priority, hilConfig } = input;
  const dependsOn = await idsOf(services, project, input.after);
  const taskId = newTaskId(services, project.id, key);
  const task = await createTask(
    services,
    {
      type: 'task.create',
      projectId: project.id,
      ...{ taskId, title, body, kind, pipeline, accept, files, dependsOn, priority, hilConfig },
    },
    key,
  );
  return summary(services.store, task);
}

export async function listTasks(services: Services, input: RouteRequest<'tasks'>) {
  const project = await projectOf(services, input.project);
  const { stages, afterNumber, limit } = input;
  return summaries(services.store, await services.store.tasks({ projectId: project.id, stages, afterNumber, limit }));
}

export async function showTask(services: Services, input: RouteRequest<'task'>) {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const { after } = await summary(services.store, task);
  const [runs, evidence] = await Promise.all([
    services.store.runs(task.id),
    services.store.evidence({ projectId: project.id, taskId: task.id }),
  ]);
  const costUsd = runs.reduce((sum, { usage }) => sum + (usage.costUsd ?? 0), 0);
  return { task: { ...task, after }, runs, evidence, questions: [], moves: [], related: [], worktree: null, costUsd };
}

export async function cancelTask(services: Services, input: RouteRequest<'cancelTask'>) {
  return act(services, input, (task) => ({ type: 'task.cancel', taskId: task.id, by: BY }));
}

export async function retryTask(services: Services, input: RouteRequest<'retryTask'>) {
  const { note, stage } = input;
  return act(services, input, (task) => ({ type: 'task.retry', taskId: task.id, by: BY, note, stage }));
}

export async function approveTask(services: Services, input: RouteRequest<'approveTask'>) {
  const { note } = input;
  return act(services, input, (task) => ({ type: 'task.approve', taskId: task.id, by: BY, note }));
}

export async function rejectTask(services: Services, input: RouteRequest<'rejectTask'>) {
  const { note } = input;
  return act(services, input, (task) => ({ type: 'task.reject', taskId: task.id, by: BY, note }));
}

export async function setDependencies(services: Services, input: RouteRequest<'setDependencies'>) {
  const project = await projectOf(services, input.project);
  const dependsOn = await idsOf(services, project, input.after);
  return act(services, input, (task) => ({ type: 'task.set_dependencies', taskId: task.id, dependsOn }));
}

type TaskCommand = Extract<
  Command,
  { type: 'task.cancel' | 'task.retry' | 'task.approve' | 'task.reject' | 'task.set_dependencies' }
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

/** Numbers a person gave, as ids; one that does not exist is refused by name. */
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
