import type { RouteRequest, TaskDiff } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import { worktreeOf } from './task-detail.ts';

const NOTHING: TaskDiff = { of: 'nothing', text: '', isCut: false };

/** A task's change: the landed commit, or else its worktree or branch. */
export async function showDiff(
  services: Services,
  input: RouteRequest<'taskDiff'>,
  signal: AbortSignal,
): Promise<TaskDiff> {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const { landedCommit, head } = task;
  // Without a change, the repository is not opened.
  if (landedCommit === null && head === null && (await worktreeOf(services, project, task)) === null) return NOTHING;
  return services.repositories.withWorkspace(project, async (workspace) => {
    const cut =
      landedCommit === null
        ? await workspace.lookAtWork(task, input.maxBytes, signal)
        : await workspace.lookAtCommit(landedCommit, input.maxBytes, signal);
    return cut ? { of: landedCommit === null ? 'worktree' : 'landed', ...cut } : NOTHING;
  });
}
