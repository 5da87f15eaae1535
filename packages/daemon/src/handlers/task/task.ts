import { AppError, type Project, type RouteRequest } from '@tidemill/contract';
import type { Call, Services } from '../context.ts';
import { projectOf, summaries, summary, taskOf, unwrap } from '../find.ts';
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

export async function setDependencies(services: Services, input: RouteRequest<'setDependencies'>) {
  const project = await projectOf(services, input.project);
  const dependsOn = await idsOf(services, project, input.after);
  const task = await taskOf(services, project, input.task);
  const taskId = task.id;
  const reply = unwrap(
    await services.store.execute({ type: 'task.set_dependencies', projectId: project.id, taskId, dependsOn }),
  );
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
