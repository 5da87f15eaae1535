import type { Proposal } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const proposalEvents = {
  'proposal.made': (slice, { proposalId: id, categoryId, category, jobId, draft }, { projectId, at }) =>
    slice.records.put({
      noun: 'proposal',
      id,
      projectId,
      categoryId,
      category,
      number: 0,
      jobId,
      draft,
      status: 'checking',
      why: '',
      related: [],
      taskId: null,
      score: null,
      decidedBy: null,
      outcome: null,
      createdAt: at,
      decidedAt: null,
      endedAt: null,
    }),
  'proposal.checked': (slice, { proposalId, number, verdict, why, related }) =>
    changeProposal(slice, proposalId, () => ({ number, status: verdict, why, related })),
  'proposal.accepted': (slice, { proposalId, taskId, by }, { at }) =>
    changeProposal(slice, proposalId, () => ({ status: 'accepted', taskId, decidedBy: by, decidedAt: at })),
  'proposal.refused': (slice, { proposalId, why, by }, { at }) =>
    changeProposal(slice, proposalId, () => ({ status: 'refused', why, decidedBy: by, decidedAt: at })),
  'proposal.scored': (slice, { proposalId, score }) => changeProposal(slice, proposalId, () => ({ score })),
  'proposal.ended': (slice, { proposalId, outcome }, { at }) =>
    changeProposal(slice, proposalId, () => ({ outcome, endedAt: at })),
} satisfies Reductions;

function changeProposal(slice: Slice, id: string, change: (proposal: Proposal) => Partial<Proposal>): void {
  const proposal = slice.record('proposal', id);
  if (proposal) slice.records.put({ ...proposal, ...change(proposal) });
}
