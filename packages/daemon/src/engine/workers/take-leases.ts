import type { Task } from '@tidemill/contract';
import type { Store, Workspace } from '../../ports.ts';

interface Deps {
  store: Store;
  workspace: Pick<Workspace, 'snapshot'>;
}

/** Takes tasks from their workers. The work is snapshotted first, and the tasks go back to their stages. */
export async function takeLeases({ store, workspace }: Deps, tasks: Task[], by: string, why: string): Promise<void> {
  for (const { id: taskId, projectId, number, branch } of tasks) {
    const about = { projectId, taskId };
    const ref = await workspace.snapshot({ number, branch }, why);
    if (ref) await store.execute({ type: 'snapshot.note', ...about, ref, why });
    await store.execute({ type: 'lease.take', projectId, subjectId: taskId, by, why });
  }
}
