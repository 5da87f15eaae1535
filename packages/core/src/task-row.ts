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
