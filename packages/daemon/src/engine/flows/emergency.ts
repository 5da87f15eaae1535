import { type Actor, type Project, type Task, workerName } from '@tidemill/contract';
import type { Command, CommandOf } from '@tidemill/core';
import type { Store } from '../../ports.ts';
import type { EmergencyOrder, EmergencyReport } from '../project-work.ts';
import { executeAccepted } from './atomic.ts';
import { type LeaseTaking, takeLeases } from './take-leases.ts';

const PAGE = 1000;
const REQUESTED = 'requested by a person';

/** Commands for one transaction: stop every worker until it is resumed, and record the emergency stop. */
export const emergencyCommands = (
  projectId: string,
  workerIds: string[],
  { by, reason }: EmergencyOrder,
  report: EmergencyReport,
): Command[] => [
  ...workerIds.map((workerId): Command => ({ type: 'worker.steer', projectId, workerId, desired: 'stopped', by })),
  { type: 'emergency.record', projectId, operation: 'emergency_stop', by, reason, ...report },
];

export const reportOf = (leased: Task[]): EmergencyReport => ({
  workers: leased.map(({ lease }) => workerName(lease!.workerId)),
  tasks: leased.map(({ number }) => number),
});

/** Takes back the leases of stuck tasks. Work is kept, and the tasks stay in their stages. */
export async function recoverStuck(
  deps: LeaseTaking,
  { id: projectId }: Project,
  stuck: Task[],
  by: Actor,
): Promise<void> {
  const record = { type: 'emergency.record', projectId, operation: 'recover_stuck', by, reason: REQUESTED } as const;
  await takeLeases(deps, stuck, { by, why: 'it was stuck' }, [{ ...record, ...reportOf(stuck) }]);
}

/** Cancels tasks that have not started. Each page is one transaction that includes its record. */
export async function purgeQueue(store: Store, { id: projectId }: Project, by: Actor): Promise<number[]> {
  const purged: number[] = [];
  for (let afterNumber = 0; ; ) {
    const page = await store.tasks({ projectId, stages: ['open'], afterNumber, limit: PAGE });
    const numbers = new Map(page.map(({ id, number }) => [id, number]));
    const cancels = page.map(
      ({ id: taskId }): CommandOf<'task.cancel'> => ({ type: 'task.cancel', projectId, taskId, by, from: 'open' }),
    );
    const record = { type: 'emergency.record', projectId, operation: 'purge_queue', by, reason: REQUESTED } as const;
    const numbersOf = (done: readonly CommandOf<'task.cancel'>[]) => done.map(({ taskId }) => numbers.get(taskId)!);
    if (page.length > 0 || purged.length === 0) {
      const recordOf = (done: readonly CommandOf<'task.cancel'>[]) => [
        { ...record, workers: [], tasks: numbersOf(done) },
      ];
      purged.push(...numbersOf(await executeAccepted(store, cancels, recordOf)));
    }
    if (page.length < PAGE) return purged;
    afterNumber = page.at(-1)!.number;
  }
}
