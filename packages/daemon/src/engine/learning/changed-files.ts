import type { Task } from '@tidemill/contract';
import type { Workspace } from '../../ports.ts';

/** The files that a task has changed: as it landed, or so far. */
export async function changedFiles(workspace: Pick<Workspace, 'filesIn'>, task: Task): Promise<string[]> {
  const commit = task.landedCommit ?? task.head?.commit;
  return commit ? workspace.filesIn(commit, task.landedCommit ? 'parent' : 'base') : [];
}
