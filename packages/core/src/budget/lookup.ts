import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import type { Lookup } from '../scope.ts';

/** What pays for runs: the project's own account, and the one of all projects. */
export const accountsOf = (projectId: string): Lookup[] => [
  { find: 'records', by: accountId(projectId) },
  { find: 'records', by: accountId(ALL_PROJECTS) },
];

/** The same without a lock: whether a run may begin is decided by `run.start`, under the lock. */
export const readAccountsOf = (projectId: string): Lookup[] => [
  { find: 'readRecords', by: accountId(projectId) },
  { find: 'readRecords', by: accountId(ALL_PROJECTS) },
];
