import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';

/** The accounts that pay for runs: the project's own, and the one of all projects. */
export const accountsOf = (projectId: string): Lookup[] => [
  look('record', accountId(projectId)),
  look('record', accountId(ALL_PROJECTS)),
];

/** The same without a lock. `run.start` decides under the lock whether a run may start. */
export const readAccountsOf = (projectId: string): Lookup[] => [
  look('readRecord', accountId(projectId)),
  look('readRecord', accountId(ALL_PROJECTS)),
];
