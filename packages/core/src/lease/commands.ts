import type { Actor, Mode, Role } from '@tidemill/contract';
import { readAccountsOf } from '../budget/lookup.ts';
import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { workAndPaidRun } from '../task-lookup.ts';
import { claim, expire, release, renew } from './lease.ts';
import { takeLease } from './take.ts';

export interface LeaseCommands {
  'work.claim': {
    workerId: string;
    role: Role;
    owner: string;
    window: number;
    restingModes?: Mode[];
    /** Who would do the work: a task whose estimate the budget does not cover is not given out. */
    agents?: Partial<Record<Mode, string>>;
  };
  'lease.renew': { frozenMs?: number } & Fence;
  'lease.release': { why: string } & Fence;
  /** A person's or the supervisor's: takes the task from its worker; the work is kept. */
  'lease.take': {
    subjectId: string;
    jobId?: string;
    by: Actor;
    why: string;
    /** The work was silent for too long. After MAX_STUCK times a person is asked. */
    isStuck?: boolean;
  };
  /** The supervisor's: takes a lease that ran out, or whose owner is known to be dead (`ownerIsDead`). */
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
      // Only these two take jobs. The worker's lock keeps it from claiming both at once.
      ...(role === 'builder' || role === 'reviewer'
        ? [look('readOpenRecords', projectId, 'job'), ...readAccountsOf(projectId)]
        : []),
    ],
    decide: claim,
  },
  'lease.renew': { scope: workAndPaidRun, decide: renew },
  'lease.release': { scope: workAndPaidRun, decide: release },
  'lease.take': { scope: workAndPaidRun, decide: takeLease },
  'lease.expire': { scope: workAndPaidRun, decide: expire },
};
