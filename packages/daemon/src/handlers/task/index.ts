import type { Handlers } from '../handler.ts';
import { reassignTask } from '../worker/worker.ts';
import { bulkTasks } from './bulk.ts';
import { listTaskFiles, showDiff, showTaskFile } from './diff.ts';
import { importTasks } from './import.ts';
import { moveTask } from './move.ts';
import { showPrompt } from './prompt.ts';
import { startTask } from './start.ts';
import { addTask, listTasks, setDependencies } from './task.ts';
import { showTask } from './task-detail.ts';
import { listWorktrees } from './worktree.ts';

export const taskHandlers: Handlers<'tasks'> = {
  addTask,
  importTasks,
  tasks: listTasks,
  task: showTask,
  taskDiff: showDiff,
  taskFiles: listTaskFiles,
  taskFile: showTaskFile,
  worktrees: listWorktrees,
  prompt: showPrompt,
  startTask,
  moveTask,
  bulkTasks,
  setDependencies,
  reassignTask,
};
