import type { RecordedTask, RecordedTaskView, Task } from '@tidemill/contract';
import type { Store, Workspace } from '../../ports.ts';

interface Sources {
  projectId: string;
  store: Pick<Store, 'tasks' | 'events'>;
  workspace: Pick<Workspace, 'filesIn' | 'isLanded' | 'parentOf'>;
}

/** Landed tasks are looked through until enough of them were found. */
const PAGE = 200;

/** The landed tasks that can be done again, the newest first, and why others cannot. `numbers`: only these. */
export async function recordedTasks(
  sources: Sources,
  { limit, numbers }: { limit: number; numbers?: number[] },
): Promise<RecordedTaskView[]> {
  const { store, projectId } = sources;
  const found: RecordedTaskView[] = [];
  let afterNumber = 0;
  for (;;) {
    const query = { projectId, stages: ['done'], newestFirst: true, afterNumber, limit: PAGE };
    const tasks = await store.tasks(numbers ? { ...query, numbers } : query);
    for (const task of tasks) {
      if (found.length >= limit) return found;
      found.push(await recorded(sources, task));
    }
    if (tasks.length < PAGE) return found;
    afterNumber = tasks.at(-1)!.number;
  }
}

export const isUsable = (task: RecordedTaskView): task is RecordedTaskView & RecordedTask => task.unusable === null;

async function recorded(sources: Sources, task: Task): Promise<RecordedTaskView> {
  const { workspace } = sources;
  const { id: taskId, number, title, landedCommit, stageSince: landedAt } = task;
  const about = { taskId, number, title, commit: landedCommit ?? '', files: [], landedAt };
  if (landedCommit === null) return { ...about, unusable: 'it ended without a landed change' };
  const base = await baseOf(sources, task, landedCommit);
  if (base === null || !(await workspace.isLanded(base)))
    return { ...about, unusable: 'its commits are no longer in the target’s history' };
  const files = await workspace.filesIn(landedCommit, 'parent');
  if (files.length === 0) return { ...about, unusable: 'its change has no files' };
  // The gates decide by the target’s tree, which the task itself had to repair.
  if (task.repairs.length > 0) return { ...about, unusable: 'it repaired the target: its base fails the gates' };
  return { ...about, base, files, unusable: null };
}

/** The commit that the landed change was put on. A rebase lands several commits, so the log is asked first. */
async function baseOf({ store, workspace, projectId }: Sources, task: Task, commit: string): Promise<string | null> {
  const query = { projectId, taskId: task.id, types: ['merge.prepared'], newestFirst: true, limit: 10 };
  for (const { body } of await store.events(query))
    if (body.type === 'merge.prepared' && body.commit === commit && (await workspace.isLanded(body.base)))
      return body.base;
  return workspace.parentOf(commit);
}
