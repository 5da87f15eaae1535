import type { Receipt } from '@tidemill/contract';
import type { Fence } from '../command.ts';
import type { CommandParts } from '../noun.ts';
import { recordEvidence } from './evidence.ts';

export interface GateCommands {
  'evidence.record': { receipts: Receipt[] } & Fence;
}

export const gateCommands: CommandParts<keyof GateCommands> = {
  'evidence.record': {
    scope: ({ projectId, taskId, receipts }) => [
      { find: 'lockedProjects', by: projectId },
      { find: 'tasks', by: taskId },
      ...receipts.map(({ tree }) => ({ find: 'evidence' as const, by: { projectId, tree } })),
    ],
    decide: recordEvidence,
  },
};
