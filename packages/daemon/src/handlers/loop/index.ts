import type { LoopView, Project, Proposal, ProposalView, RouteRequest } from '@tidemill/contract';
import { acceptProposal } from '../../engine/loop/accept-proposal.ts';
import type { Services } from '../context.ts';
import { numbered, projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { viewLoop, viewProposals } from './view.ts';

export const loopHandlers: Handlers<'loop'> = {
  loop: showLoop,
  switchLoop,
  proposals: listProposals,
  approveProposal,
  refuseProposal,
  scoreProposal,
};

async function showLoop(services: Services, input: RouteRequest<'loop'>): Promise<LoopView> {
  return viewLoop(services, await projectOf(services, input.project));
}

async function switchLoop(services: Services, input: Signed<'switchLoop'>): Promise<LoopView> {
  const project = await projectOf(services, input.project);
  const { on, by } = input;
  unwrap(await services.store.execute({ type: 'loop.switch', projectId: project.id, on, by }));
  return viewLoop(services, project);
}

async function listProposals(services: Services, input: RouteRequest<'proposals'>): Promise<ProposalView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'proposal', projectId });
  const found = all
    .filter(({ status }) => input.status === undefined || status === input.status)
    .sort((a, b) => b.createdAt - a.createdAt || b.number - a.number)
    .slice(0, input.limit);
  return viewProposals(services, projectId, found);
}

async function approveProposal(services: Services, input: Signed<'approveProposal'>): Promise<ProposalView> {
  const project = await projectOf(services, input.project);
  const proposal = await numbered(services, project, 'proposal', input.proposal);
  const { store, ids } = services;
  await acceptProposal({ store, ids, project }, proposal, input.by);
  return viewAgain(services, project, proposal);
}

async function refuseProposal(services: Services, input: Signed<'refuseProposal'>): Promise<ProposalView> {
  const project = await projectOf(services, input.project);
  const proposal = await numbered(services, project, 'proposal', input.proposal);
  const { why, by } = input;
  unwrap(await services.store.execute({ type: 'proposal.refuse', ...about(proposal), why, by }));
  return viewAgain(services, project, proposal);
}

async function scoreProposal(services: Services, input: Signed<'scoreProposal'>): Promise<ProposalView> {
  const project = await projectOf(services, input.project);
  const proposal = await numbered(services, project, 'proposal', input.proposal);
  const { score, by } = input;
  unwrap(await services.store.execute({ type: 'proposal.score', ...about(proposal), score, by }));
  return viewAgain(services, project, proposal);
}

const about = ({ projectId, id, categoryId }: Proposal) => ({ projectId, proposalId: id, categoryId });

async function viewAgain(services: Services, { id }: Project, proposal: Proposal): Promise<ProposalView> {
  const [view] = await viewProposals(services, id, [(await services.store.record('proposal', proposal.id))!]);
  return view!;
}
