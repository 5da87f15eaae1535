import type { Project, Refusal, Task } from '@tidemill/contract';
import type { Slice } from './slice.ts';

export type Fenced = { ok: true; task: Task; project: Project } | { ok: false; refusal: Refusal };

/** A worker may write about a task only while its token is the task's newest: a late writer is refused. */
export function fenced(slice: Slice, command: { projectId: string; taskId: string; token: number }): Fenced {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  return task.lease?.token === command.token ? found : { ok: false, refusal: staleLease(task) };
}

export function staleLease({ number, lease }: Pick<Task, 'number' | 'lease'>): Refusal {
  const message = lease
    ? `task #${number} is now held by ${lease.workerId}`
    : `task #${number} is no longer held by anyone`;
  return { code: 'stale_lease', message, hint: 'stop working on it; the work in its worktree is kept' };
}

export function findTask(slice: Slice, command: { projectId: string; taskId: string }): Fenced {
  const project = slice.projects.get(command.projectId);
  const task = slice.tasks.get(command.taskId);
  if (project && task?.projectId === project.id) return { ok: true, task, project };
  const message = project ? `there is no task ${command.taskId}` : `there is no project ${command.projectId}`;
  return { ok: false, refusal: { code: 'not_found', message, hint: '' } };
}
