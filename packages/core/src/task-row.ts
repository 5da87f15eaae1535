import type { Task } from '@tidemill/contract';
import type { Slice } from './slice.ts';

/** Replaces the fields of a task that an event changes. The command's scope must have loaded the task. */
export function changeTask(
  slice: Slice,
  body: { type: string; taskId: string },
  change: (task: Task) => Partial<Task> | null,
): void {
  const task = slice.tasks.get(body.taskId);
  if (!task) throw new Error(`${body.type} is about task ${body.taskId}, which is not loaded`);
  const changed = change(task);
  if (changed) slice.tasks.put({ ...task, ...changed });
}

/** The same for an event about a run or a lease. Where it belongs to a job, the job follows it instead. */
export function changeLeasedTask(
  slice: Slice,
  { type, subjectId, jobId }: { type: string; subjectId: string; jobId?: string },
  change: (task: Task) => Partial<Task> | null,
): void {
  if (jobId === undefined) changeTask(slice, { type, taskId: subjectId }, change);
}
