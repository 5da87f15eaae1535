import type { Actor, Job, JobMode, Mode } from '@tidemill/contract';
import { accountsOf, readAccountsOf } from '../budget/lookup.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { workAndRun } from '../work.ts';
import { cancelJob, claimJob, requestJob } from './job.ts';

export interface JobCommands {
  'job.request': { jobId: string; subjectId: string; mode: JobMode; input: Job['input']; by: Actor };
  'job.claim': {
    workerId: string;
    owner: string;
    restingModes?: Mode[];
    /** Only jobs that wait until nothing else is to be done; without it, only the others. */
    isBackground?: boolean;
    /** The agent of each mode: a job whose estimate exceeds the budget is not handed out. */
    agents?: Partial<Record<Mode, string>>;
  };
  /** `isFailed`: nobody wanted it to end, so its subject is told that it failed. */
  'job.cancel': { jobId: string; subjectId: string; why: string; isFailed?: boolean };
}

export const jobCommands: CommandParts<keyof JobCommands> = {
  'job.request': { scope: ({ jobId }) => [look('record', jobId)], decide: requestJob },
  'job.claim': {
    scope: ({ projectId, workerId }) => [
      look('worker', workerId),
      look('leasedBy', workerId),
      look('openRecords', projectId, 'job'),
      ...readAccountsOf(projectId),
    ],
    decide: claimJob,
  },
  'job.cancel': {
    scope: (command) => [...workAndRun(command), ...accountsOf(command.projectId)],
    decide: cancelJob,
  },
};
