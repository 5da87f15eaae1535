import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';

/** What pays for runs: the project's own account, and the one of all projects. */
export const accountsOf = (projectId: string): Lookup[] => [
  look('record', accountId(projectId)),
  look('record', accountId(ALL_PROJECTS)),
];

/** The same without a lock: whether a run may begin is decided by `run.start`, under the lock. */
export const readAccountsOf = (projectId: string): Lookup[] => [
  look('readRecord', accountId(projectId)),
  look('readRecord', accountId(ALL_PROJECTS)),
];
