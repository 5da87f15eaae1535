import type { Actor, GuardTest, ShownCall } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import {
  bypassGuard,
  editGuard,
  enforceGuard,
  hitGuard,
  observeGuard,
  proposeGuard,
  refuseGuard,
  useBypass,
  withdrawGuard,
} from './guard-proposal.ts';

interface OfProposal {
  proposalId: string;
}

export interface GuardProposalCommands {
  'guardProposal.propose': OfProposal & {
    name: string;
    yaml: string;
    key: string;
    rule: string;
    why: string;
    traceIds: string[];
    test: GuardTest;
    by: Actor;
  };
  /** `from`: the status that was seen. If it has another one by now, nothing changes. */
  'guardProposal.observe': OfProposal & { from: 'proposed' | 'enforced'; by: Actor };
  'guardProposal.edit': OfProposal & { name: string; yaml: string; rule: string; test: GuardTest; by: Actor };
  'guardProposal.enforce': OfProposal & { test: GuardTest; by: Actor };
  'guardProposal.refuse': OfProposal & { why: string; by: Actor };
  'guardProposal.withdraw': OfProposal & { why: string; by: Actor };
  /** A call that it would have refused, while it observes. */
  'guardProposal.hit': OfProposal & { call: ShownCall };
  'guardProposal.bypass': OfProposal & { taskId: string | null; why: string; until: number; by: Actor };
  'guardProposal.use_bypass': OfProposal & { taskId: string | null; call: ShownCall };
}

const scope = ({ proposalId }: OfProposal) => [look('record', proposalId)];

export const guardProposalCommands: CommandParts<keyof GuardProposalCommands> = {
  'guardProposal.propose': { scope, decide: proposeGuard },
  'guardProposal.observe': { scope, decide: observeGuard },
  'guardProposal.edit': { scope, decide: editGuard },
  'guardProposal.enforce': { scope, decide: enforceGuard },
  'guardProposal.refuse': { scope, decide: refuseGuard },
  'guardProposal.withdraw': { scope, decide: withdrawGuard },
  'guardProposal.hit': { scope, decide: hitGuard },
  'guardProposal.bypass': { scope, decide: bypassGuard },
  'guardProposal.use_bypass': { scope, decide: useBypass },
};
