import { z } from 'zod';
import { NewTask, Priority, TaskEdit } from '../task.ts';
import { BulkOperation, BulkResult, ImportedTasks, PromptView, TaskDetail, TaskDiff, TaskSummary } from '../view.ts';
import { by, count, flag, get, maxBytes, note, ofTask, post, project, put, words, worker } from './route.ts';

export const taskRoutes = {
  addTask: post('/v1/projects/:project/tasks', 'Adds a task', NewTask.extend({ project }), TaskSummary),
  importTasks: post(
    '/v1/projects/:project/tasks/import',
    'Adds many tasks at once, all or none',
    z.strictObject({ project, tasks: ImportedTasks }),
    z.object({ created: z.number(), first: z.number(), last: z.number(), keys: z.record(z.string(), z.number()) }),
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
  task: get('/v1/projects/:project/tasks/:task', 'All about a task', z.strictObject(ofTask), TaskDetail),
  taskDiff: get(
    '/v1/projects/:project/tasks/:task/diff',
    "A task's change against the target",
    z.strictObject({ ...ofTask, maxBytes: maxBytes(10_000_000) }),
    TaskDiff,
  ),
  prompt: get(
    '/v1/projects/:project/tasks/:task/prompt/:mode',
    'What an agent would be told now',
    z.strictObject({ ...ofTask, mode: z.string().min(1) }),
    PromptView,
  ),
  editTask: put(
    '/v1/projects/:project/tasks/:task',
    'Changes what is asked for',
    TaskEdit.extend(ofTask).extend({ by }),
    TaskSummary,
  ),
  noteTask: post(
    '/v1/projects/:project/tasks/:task/notes',
    'Says something to whoever works on a task next',
    z.strictObject({ ...ofTask, by, text: z.string().trim().min(1, 'a note needs words').max(2000) }),
    TaskSummary,
  ),
  moveTask: post(
    '/v1/projects/:project/tasks/:task/move',
    'Puts a task into another stage, where its pipeline allows a person to',
    z.strictObject({
      ...{ ...ofTask, by },
      to: z.string().min(1),
      /** Only if it still is in this stage, the one that the person saw it in. */
      from: z.string().min(1).optional(),
      note: note.optional(),
    }),
    TaskSummary,
  ),
  bulkTasks: post(
    '/v1/projects/:project/tasks/bulk',
    'Does the same to many tasks; says for each that refused why',
    z.strictObject({
      ...{ project, by },
      tasks: z.array(z.number().int().positive()).min(1).max(500),
      operation: BulkOperation,
      priority: Priority.optional(),
    }),
    BulkResult,
  ),
  cancelTask: post(
    '/v1/projects/:project/tasks/:task/cancel',
    'Cancels a task; its work is kept',
    z.strictObject({ ...ofTask, by }),
    TaskSummary,
  ),
  retryTask: post(
    '/v1/projects/:project/tasks/:task/retry',
    'Sets a task that stands still to work again',
    z.strictObject({ ...ofTask, by, note: note.optional(), stage: z.string().min(1).optional() }),
    TaskSummary,
  ),
  approveTask: post(
    '/v1/projects/:project/tasks/:task/approve',
    'Says yes where a task waits for a person',
    z.strictObject({ ...ofTask, by, note: note.optional() }),
    TaskSummary,
  ),
  rejectTask: post(
    '/v1/projects/:project/tasks/:task/reject',
    'Says no, and why',
    z.strictObject({ ...ofTask, by, note: note.min(1, 'a rejection needs a note: say what is wrong') }),
    TaskSummary,
  ),
  setDependencies: put(
    '/v1/projects/:project/tasks/:task/after',
    'Says which tasks come first',
    z.strictObject({ ...ofTask, after: z.array(z.number().int().positive()) }),
    TaskSummary,
  ),
  reassignTask: post(
    '/v1/projects/:project/tasks/:task/reassign',
    'Takes a task from its worker, for another or for whoever comes first',
    z.strictObject({ ...ofTask, worker: worker.nullable().default(null), by }),
    TaskSummary,
  ),
};
