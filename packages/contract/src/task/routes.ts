import { z } from 'zod';
import { by, count, flag, get, maxBytes, note, ofTask, post, project, put, words, worker } from '../api/route.ts';
import { TaskFile, TaskFiles } from './change.ts';
import { NewTask, Priority, TaskEdit } from './task.ts';
import {
  BulkOperation,
  BulkResult,
  ImportedTasks,
  PromptView,
  TaskDetail,
  TaskDiff,
  TaskSummary,
  WorktreeView,
} from './view.ts';

export const taskRoutes = {
  addTask: post('/v1/projects/:project/tasks', 'Adds a task', NewTask.extend({ project }), TaskSummary, {
    decides: false,
  }),
  importTasks: post(
    '/v1/projects/:project/tasks/import',
    'Adds many tasks at once, all or none',
    z.strictObject({ project, tasks: ImportedTasks }),
    z.object({ created: z.number(), first: z.number(), last: z.number(), keys: z.record(z.string(), z.number()) }),
    { decides: false },
  ),
  tasks: get(
    '/v1/projects/:project/tasks',
    'Tasks by number, in pages',
    z.strictObject({
      project,
      stages: words(),
      /** Every word must be in the title, or name the number. */
      search: z.string().trim().max(300).optional(),
      afterNumber: count().default(0),
      /** Newest first, from `afterNumber` (when given) downwards. */
      newestFirst: flag(),
      limit: count().min(1).max(1000).default(500),
    }),
    z.array(TaskSummary),
    { page: { cursor: 'afterNumber', field: 'number' } },
  ),
  task: get('/v1/projects/:project/tasks/:task', 'A task with all details', z.strictObject(ofTask), TaskDetail),
  taskDiff: get(
    '/v1/projects/:project/tasks/:task/diff',
    "A task's change against the target",
    z.strictObject({ ...ofTask, maxBytes: maxBytes(10_000_000) }),
    TaskDiff,
  ),
  taskFiles: get(
    '/v1/projects/:project/tasks/:task/files',
    "The files of a task's change",
    z.strictObject(ofTask),
    TaskFiles,
  ),
  taskFile: get(
    '/v1/projects/:project/tasks/:task/file',
    "One file of a task's change, before and after",
    z.strictObject({ ...ofTask, path: z.string().min(1).max(4096), maxBytes: maxBytes(10_000_000) }),
    TaskFile,
  ),
  worktrees: get(
    '/v1/projects/:project/worktrees',
    'The worktrees of unfinished tasks, with their sizes',
    z.strictObject({ project }),
    z.array(WorktreeView),
  ),
  prompt: get(
    '/v1/projects/:project/tasks/:task/prompt/:mode',
    'The prompt that an agent would get now',
    z.strictObject({ ...ofTask, mode: z.string().min(1) }),
    PromptView,
  ),
  editTask: put(
    '/v1/projects/:project/tasks/:task',
    'Edits a task',
    TaskEdit.extend(ofTask).extend({ by }),
    TaskSummary,
    { decides: true },
  ),
  noteTask: post(
    '/v1/projects/:project/tasks/:task/notes',
    'Adds a note for the next run of a task',
    z.strictObject({ ...ofTask, by, text: z.string().trim().min(1, 'the note is empty').max(2000) }),
    TaskSummary,
    { decides: false },
  ),
  startTask: post(
    '/v1/projects/:project/tasks/:task/start',
    'Puts a task first in the queue, for a worker or for any',
    z.strictObject({ ...ofTask, worker: worker.nullable().default(null), by }),
    TaskSummary,
    { decides: true },
  ),
  moveTask: post(
    '/v1/projects/:project/tasks/:task/move',
    'Moves a task to another stage, if its pipeline allows it',
    z.strictObject({
      ...ofTask,
      by,
      to: z.string().min(1),
      /** Only if it is still in this stage, which the person saw. */
      from: z.string().min(1).optional(),
      note: note.optional(),
    }),
    TaskSummary,
    { decides: true },
  ),
  bulkTasks: post(
    '/v1/projects/:project/tasks/bulk',
    'Applies one action to many tasks; returns the reason of each refusal',
    z.strictObject({
      project,
      by,
      tasks: z.array(z.number().int().positive()).min(1).max(500),
      operation: BulkOperation,
      priority: Priority.optional(),
    }),
    BulkResult,
    { decides: true },
  ),
  cancelTask: post(
    '/v1/projects/:project/tasks/:task/cancel',
    'Cancels a task; its work is kept',
    z.strictObject({ ...ofTask, by }),
    TaskSummary,
    { decides: true },
  ),
  retryTask: post(
    '/v1/projects/:project/tasks/:task/retry',
    'Restarts a task that does not move',
    z.strictObject({ ...ofTask, by, note: note.optional(), stage: z.string().min(1).optional() }),
    TaskSummary,
    { decides: true },
  ),
  approveTask: post(
    '/v1/projects/:project/tasks/:task/approve',
    'Approves a task that waits for a person',
    z.strictObject({ ...ofTask, by, note: note.optional() }),
    TaskSummary,
    { decides: true },
  ),
  rejectTask: post(
    '/v1/projects/:project/tasks/:task/reject',
    'Rejects a task with a note',
    z.strictObject({ ...ofTask, by, note: note.min(1, 'a rejection needs a note: say what is wrong') }),
    TaskSummary,
    { decides: true },
  ),
  setDependencies: put(
    '/v1/projects/:project/tasks/:task/after',
    'Sets which tasks must be done first',
    z.strictObject({ ...ofTask, after: z.array(z.number().int().positive()) }),
    TaskSummary,
    { decides: true },
  ),
  reassignTask: post(
    '/v1/projects/:project/tasks/:task/reassign',
    'Takes a task from its worker, for another worker or for any',
    z.strictObject({ ...ofTask, worker: worker.nullable().default(null), by }),
    TaskSummary,
    { decides: true },
  ),
};
