import type { Actor, Worker } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Store } from '../../ports.ts';
import { executeTogether } from './atomic.ts';

/**
 * Stops a worker, takes its task back, clears its errors and starts it again. A reset also clears its statistics. This
 * is one transaction, so a crash cannot leave the worker stopped. The fleet stops the agent when it reads the events.
 * An agent of a dead daemon is already dead.
 */
export async function restartWorker(
  store: Store,
  { id: workerId, projectId, name }: Worker,
  { by, isReset }: { by: Actor; isReset: boolean },
): Promise<void> {
  const about = { projectId, workerId, by };
  const leased = (await store.leased(projectId)).filter(({ lease }) => lease?.workerId === workerId);
  const commands: Command[] = [
    { type: 'worker.steer', ...about, desired: 'stopped' },
    ...leased.map(
      ({ id: taskId }): Command => ({ type: 'lease.take', projectId, subjectId: taskId, by, why: 'restart' }),
    ),
    ...(isReset ? [{ type: 'worker.reset', ...about } as const] : []),
    { type: 'worker.steer', ...about, desired: 'running' },
    {
      type: 'emergency.record',
      projectId,
      operation: isReset ? 'reset_worker' : 'restart_worker',
      by,
      reason: 'requested by a person',
      workers: [name],
      tasks: leased.map(({ number }) => number),
    },
  ];
  await executeTogether(store, commands);
}
