import {
  AppError,
  type Project,
  type RouteRequest,
  type Task,
  type TaskDiff,
  type TaskFile,
  type TaskFiles,
} from '@tidemill/contract';
import type { LentWorkspace, Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import { worktreeOf } from './task-detail.ts';

/** A task's change: the landed commit, or else its worktree or branch. */
export async function showDiff(
  services: Services,
  input: RouteRequest<'taskDiff'>,
  signal: AbortSignal,
): Promise<TaskDiff> {
  const cut = await look(services, input, (workspace, task) =>
    task.landedCommit === null
      ? workspace.lookAtWork(task, input.maxBytes, signal)
      : workspace.lookAtCommit(task.landedCommit, input.maxBytes, signal),
  );
  return cut ? { of: cut.of, ...cut.found } : { of: 'nothing', text: '', isCut: false };
}

export async function listTaskFiles(services: Services, input: RouteRequest<'taskFiles'>): Promise<TaskFiles> {
  const files = await look(services, input, (workspace, task) => workspace.filesOfChange(task, task.landedCommit));
  return files ? { of: files.of, files: files.found } : { of: 'nothing', files: [] };
}

export async function showTaskFile(services: Services, input: RouteRequest<'taskFile'>): Promise<TaskFile> {
  const { path, maxBytes } = input;
  const file = await look(services, input, (workspace, task) =>
    workspace.fileOfChange(task, task.landedCommit, path, maxBytes),
  );
  if (file) return file.found;
  throw new AppError('not_found', `the change of #${input.task} has no file ${JSON.stringify(path)}`, {
    hint: 'List its files again: it may have changed meanwhile.',
  });
}

/** Null when there is no change, or nothing was found in it. */
async function look<T>(
  services: Services,
  input: { project: string; task: string },
  find: (workspace: LentWorkspace, task: Task) => Promise<T | null>,
): Promise<{ of: 'worktree' | 'landed'; found: T } | null> {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  if (!(await hasChange(services, project, task))) return null;
  const found = await services.repositories.withWorkspace(project, (workspace) => find(workspace, task));
  return found === null ? null : { of: task.landedCommit === null ? 'worktree' : 'landed', found };
}

/** Without a change, the repository is not opened. */
const hasChange = async (services: Services, project: Project, task: Task): Promise<boolean> =>
  task.landedCommit !== null || task.head !== null || (await worktreeOf(services, project, task)) !== null;
