import type { Actor, HilConfig, TaskEdit, TaskKind, TaskOrigin } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { steeredTask, taskAlone } from '../task-lookup.ts';
import { assignTask } from './assign.ts';
import { createTask, setDependencies } from './create.ts';
import { editTask, noteTask } from './edit.ts';
import { approve, cancel, reject, retry } from './steer.ts';
import { wakeTask } from './wake.ts';

export interface TaskCommands {
  'task.create': {
    taskId: string;
    title: string;
    body: string;
    kind: TaskKind;
    pipeline?: string;
    accept: string[];
    files: string[];
    dependsOn: string[];
    priority: number;
    hilConfig?: HilConfig;
    repairs?: string[];
    validate?: string;
    estimateMinutes?: number | null;
    origin?: TaskOrigin;
  };
  'task.set_dependencies': { taskId: string; dependsOn: string[] };
  'task.edit': { taskId: string; by: Actor } & TaskEdit;
  'task.note': { taskId: string; by: Actor; text: string };
  /** Null lets any worker take it again. */
  'task.assign': { taskId: string; workerId: string | null; by: Actor };
  /** From the engine at its start: ends a task's wait, because its cause may be gone. */
  'task.wake': { taskId: string };
  /** `from`: only if it is still in the stage that the person saw. */
  'task.cancel': { taskId: string; by: Actor; from?: string };
  'task.retry': { taskId: string; by: Actor; note?: string; stage?: string; from?: string };
  'task.approve': { taskId: string; by: Actor; note?: string; from?: string };
  'task.reject': { taskId: string; by: Actor; note: string; from?: string };
}

export const taskCommands: CommandParts<keyof TaskCommands> = {
  'task.create': {
    scope: ({ projectId, taskId, dependsOn }) => [
      look('lockedProject', projectId),
      ...[taskId, ...dependsOn].map((id) => look('task', id)),
    ],
    decide: createTask,
  },
  'task.set_dependencies': {
    scope: ({ projectId, taskId, dependsOn }) => [
      // One at a time per project: two concurrent changes could create a cycle together.
      look('lockedProject', projectId),
      ...[taskId, ...dependsOn].map((id) => look('task', id)),
      look('edges', projectId),
    ],
    decide: setDependencies,
  },
  'task.edit': { scope: steeredTask, decide: editTask },
  'task.note': { scope: taskAlone, decide: noteTask },
  'task.assign': {
    scope: (command) => [
      ...taskAlone(command),
      ...(command.workerId === null ? [] : [look('worker', command.workerId)]),
    ],
    decide: assignTask,
  },
  'task.wake': { scope: taskAlone, decide: wakeTask },
  'task.cancel': { scope: steeredTask, decide: cancel },
  'task.retry': { scope: steeredTask, decide: retry },
  'task.approve': { scope: steeredTask, decide: approve },
  'task.reject': { scope: steeredTask, decide: reject },
};
