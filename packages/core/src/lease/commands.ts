import { type Actor, loopId, type Mode, type Role } from '@tidemill/contract';
import { readAccountsOf } from '../budget/lookup.ts';
import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { workAndPaidRun } from '../task-lookup.ts';
import type { StartHolds } from './held-start.ts';
import { claim, expire, release, renew } from './lease.ts';
import { takeLease } from './take.ts';

export interface LeaseCommands {
  'work.claim': {
    workerId: string;
    role: Role;
    owner: string;
    window: number;
    restingModes?: Mode[];
    /** What does not start for now. */
    holds?: StartHolds;
    /** The agent of each mode: a task whose estimate exceeds the budget is not handed out. */
    agents?: Partial<Record<Mode, string>>;
    /** The merger takes one more task for its batch, up to this many. */
    batch?: number;
  };
  'lease.renew': { frozenMs?: number } & Fence;
  'lease.release': { why: string } & Fence;
  /** From a person or the supervisor: takes the task from its worker; the work is kept. */
  'lease.take': {
    subjectId: string;
    jobId?: string;
    by: Actor;
    why: string;
    /** The work showed no activity for too long. After MAX_STUCK times a person is asked. */
    isStuck?: boolean;
  };
  /** From the supervisor: ends a lease that expired, or whose owner is known to be dead (`ownerIsDead`). */
  'lease.expire': { ownerIsDead: boolean } & Fence;
}

export const leaseCommands: CommandParts<keyof LeaseCommands> = {
  'work.claim': {
    scope: ({ projectId, workerId, role, window }) => [
      look('worker', workerId),
      look('leasedBy', workerId),
      look('ready', projectId, role, window),
      look('scopedRunning', projectId),
      ...(role === 'builder' ? [look('openConflicts', projectId)] : []),
      // Only these two take jobs. The worker's lock prevents it from claiming a task and a job at once.
      ...(role === 'builder' || role === 'reviewer'
        ? [
            look('readOpenRecords', projectId, 'job'),
            look('readRecord', loopId(projectId)),
            ...readAccountsOf(projectId),
          ]
        : []),
    ],
    decide: claim,
  },
  'lease.renew': { scope: workAndPaidRun, decide: renew },
  'lease.release': { scope: workAndPaidRun, decide: release },
  'lease.take': { scope: workAndPaidRun, decide: takeLease },
  'lease.expire': { scope: workAndPaidRun, decide: expire },
};
