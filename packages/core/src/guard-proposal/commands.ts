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
  'guard_proposal.propose': OfProposal & {
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
  'guard_proposal.observe': OfProposal & { from: 'proposed' | 'enforced'; by: Actor };
  'guard_proposal.edit': OfProposal & { name: string; yaml: string; rule: string; test: GuardTest; by: Actor };
  'guard_proposal.enforce': OfProposal & { test: GuardTest; by: Actor };
  'guard_proposal.refuse': OfProposal & { why: string; by: Actor };
  'guard_proposal.withdraw': OfProposal & { why: string; by: Actor };
  /** A call that it would have refused, while it observes. */
  'guard_proposal.hit': OfProposal & { call: ShownCall };
  'guard_proposal.bypass': OfProposal & { taskId: string | null; why: string; until: number; by: Actor };
  'guard_proposal.use_bypass': OfProposal & { taskId: string | null; call: ShownCall };
}

const scope = ({ proposalId }: OfProposal) => [look('record', proposalId)];

export const guardProposalCommands: CommandParts<keyof GuardProposalCommands> = {
  'guard_proposal.propose': { scope, decide: proposeGuard },
  'guard_proposal.observe': { scope, decide: observeGuard },
  'guard_proposal.edit': { scope, decide: editGuard },
  'guard_proposal.enforce': { scope, decide: enforceGuard },
  'guard_proposal.refuse': { scope, decide: refuseGuard },
  'guard_proposal.withdraw': { scope, decide: withdrawGuard },
  'guard_proposal.hit': { scope, decide: hitGuard },
  'guard_proposal.bypass': { scope, decide: bypassGuard },
  'guard_proposal.use_bypass': { scope, decide: useBypass },
};
