import type { Actor, Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Store, Workspace } from '../../ports.ts';
import { executeAccepted } from './atomic.ts';

export interface LeaseTaking {
  store: Store;
  withWorkspace<T>(work: (workspace: Pick<Workspace, 'snapshot'>) => Promise<T>): Promise<T>;
}

/**
 * Takes tasks from their workers and executes `record` in the same transaction. The work is snapshotted first, so a
 * crash before the transaction changes no lease.
 */
export async function takeLeases(
  { store, withWorkspace }: LeaseTaking,
  tasks: Task[],
  { by, why }: { by: Actor; why: string },
  record: readonly Command[],
): Promise<void> {
  const taken: Command[] = [];
  const keepAll = async (workspace: Pick<Workspace, 'snapshot'>) => {
    for (const { id: taskId, projectId, number, branch } of tasks) {
      const ref = await workspace.snapshot({ number, branch }, why);
      if (ref) taken.push({ type: 'snapshot.note', projectId, taskId, ref, why });
      taken.push({ type: 'lease.take', projectId, subjectId: taskId, by, why });
    }
  };
  if (tasks.length > 0) await withWorkspace(keepAll);
  await executeAccepted(store, [...taken, ...record]);
}
