import type { Project, Refusal, Task } from '@tidemill/contract';
import type { Slice } from './slice.ts';
import { staleLease } from './work.ts';

export type FenceCheck = { ok: true; task: Task; project: Project } | { ok: false; refusal: Refusal };

/** A worker may write about a task only while its token is the task's newest: a late writer is refused. */
export function checkFence(slice: Slice, command: { projectId: string; subjectId: string; token: number }): FenceCheck {
  const found = findTask(slice, { projectId: command.projectId, taskId: command.subjectId });
  if (!found.ok) return found;
  const { task } = found;
  return task.lease?.token === command.token ? found : { ok: false, refusal: staleLease(task) };
}

export function findTask(slice: Slice, command: { projectId: string; taskId: string }): FenceCheck {
  const project = slice.projects.get(command.projectId);
  const task = slice.tasks.get(command.taskId);
  if (project && task?.projectId === project.id) return { ok: true, task, project };
  const message = project ? `there is no task ${command.taskId}` : `there is no project ${command.projectId}`;
  return { ok: false, refusal: { code: 'not_found', message, hint: '' } };
}
