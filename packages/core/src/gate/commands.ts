import type { Receipt } from '@tidemill/contract';
import type { Fence } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { recordEvidence } from './evidence.ts';

export interface GateCommands {
  'evidence.record': { receipts: Receipt[] } & Fence;
}

export const gateCommands: CommandParts<keyof GateCommands> = {
  'evidence.record': {
    scope: ({ projectId, subjectId, receipts }) => [
      look('lockedProject', projectId),
      look('task', subjectId),
      ...receipts.map(({ tree }) => look('evidenceFor', projectId, tree)),
    ],
    decide: recordEvidence,
  },
};
