import type { Routes } from '@tidemill/contract';
import type { Command, CommandType } from '@tidemill/core';
import type { Services } from './context.ts';
import { projectOf, summary, taskOf, unwrap } from './find.ts';
import type { CommandRoute } from './handler.ts';

/** The commands that routes execute. */
export type Executed = { [N in CommandRoute]: Routes[N]['executes'] }[CommandRoute];

/**
 * Executes the command that a route names. The input's fields are the command's; a project and a task are found by their
 * names. The response is the task after it; where it is about no task, that it is done.
 */
export async function executeRoute(services: Services, type: Executed, input: object): Promise<unknown> {
  const { project: name, task: ref, ...fields } = input as { project: string; task?: string };
  const project = await projectOf(services, name);
  const task = ref === undefined ? null : await taskOf(services, project, ref);
  const about = task === null ? {} : { taskId: task.id };
  const command = { type: type satisfies CommandType, projectId: project.id, ...about, ...fields } as Command;
  const reply = unwrap(await services.store.execute(command));
  return task === null ? { done: true } : summary(services.store, reply.task!);
}
