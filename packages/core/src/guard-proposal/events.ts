import { type GuardProposal, SHOWN_CALLS } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const guardProposalEvents = {
  'guard_proposal.proposed': (slice, body, { projectId, at }) => {
    const { proposalId: id, name, yaml, key, rule, why, traceIds, test, by } = body;
    slice.records.put({
      noun: 'guard_proposal',
      ...{ id, projectId, name, yaml, key, rule, why, traceIds, ...test },
      status: 'proposed',
      proposedBy: by,
      decidedBy: null,
      decidedWhy: '',
      observedCount: 0,
      observed: [],
      bypasses: 0,
      bypass: null,
      createdAt: at,
      observedSince: null,
      decidedAt: null,
    });
  },
  'guard_proposal.observing': (slice, { proposalId }, { at }) =>
    change(slice, proposalId, () => ({ status: 'observing', observedSince: at, bypass: null })),
  'guard_proposal.edited': (slice, { proposalId, yaml, rule, test }, { at }) =>
    change(slice, proposalId, () => ({
      ...{ yaml, rule, ...test, status: 'observing', observedSince: at },
      ...{ observedCount: 0, observed: [], bypass: null },
    })),
  'guard_proposal.enforced': (slice, { proposalId, test, by }, { at }) =>
    change(slice, proposalId, () => ({ ...test, status: 'enforced', decidedBy: by, decidedAt: at })),
  'guard_proposal.refused': (slice, { proposalId, why, by }, { at }) =>
    change(slice, proposalId, () => ({ status: 'refused', decidedWhy: why, decidedBy: by, decidedAt: at })),
  'guard_proposal.withdrawn': (slice, { proposalId, why, by }, { at }) =>
    change(slice, proposalId, () => ({
      ...{ status: 'withdrawn', decidedWhy: why, decidedBy: by, decidedAt: at, bypass: null },
    })),
  'guard_proposal.hit': (slice, { proposalId, call }) =>
    change(slice, proposalId, ({ observedCount, observed }) => ({
      observedCount: observedCount + 1,
      observed: [call, ...observed].slice(0, SHOWN_CALLS),
    })),
  'guard_proposal.bypassed': (slice, { proposalId, why, until, taskId, by }) =>
    change(slice, proposalId, ({ bypasses }) => ({ bypasses: bypasses + 1, bypass: { by, why, until, taskId } })),
  'guard_proposal.bypass_used': (slice, { proposalId }) => change(slice, proposalId, () => ({ bypass: null })),
} satisfies Reductions;

function change(slice: Slice, id: string, changed: (proposal: GuardProposal) => Partial<GuardProposal>): void {
  const proposal = slice.record('guard_proposal', id);
  if (proposal) slice.records.put({ ...proposal, ...changed(proposal) });
}
