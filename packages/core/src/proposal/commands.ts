import { type Actor, loopId, type ProposalOutcome, type RelatedWork } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { acceptProposal, checkProposal, endProposal, refuseProposal, scoreProposal } from './proposal.ts';

/** Its category is named too, because its counts change with it. */
interface OfProposal {
  proposalId: string;
  categoryId: string;
}

export interface ProposalCommands {
  'proposal.check': OfProposal & {
    verdict: 'waiting' | 'duplicate' | 'invalid';
    why: string;
    related: RelatedWork[];
  };
  /** Together with the command that creates the task. */
  'proposal.accept': OfProposal & { taskId: string; by: Actor };
  'proposal.refuse': OfProposal & { why: string; by: Actor };
  'proposal.score': OfProposal & { score: number; by: Actor };
  'proposal.end': OfProposal & { outcome: ProposalOutcome };
}

const both = ({ proposalId, categoryId }: OfProposal): Lookup[] => [
  look('record', proposalId),
  look('record', categoryId),
];

export const proposalCommands: CommandParts<keyof ProposalCommands> = {
  'proposal.check': {
    scope: (command) => [...both(command), look('record', loopId(command.projectId))],
    decide: checkProposal,
  },
  'proposal.accept': { scope: (command) => [...both(command), look('task', command.taskId)], decide: acceptProposal },
  'proposal.refuse': { scope: both, decide: refuseProposal },
  'proposal.score': { scope: both, decide: scoreProposal },
  'proposal.end': { scope: both, decide: endProposal },
};
