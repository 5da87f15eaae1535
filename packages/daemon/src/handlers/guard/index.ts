import { hash } from 'node:crypto';
import {
  AppError,
  type GuardProposal,
  type GuardProposalView,
  guardFile,
  guardFileText,
  isLiveGuard,
  type PassedGuard,
  type Project,
  type RouteRequest,
} from '@tidemill/contract';
import {
  bypassGuard,
  decideGuard,
  type GuardTools,
  passGuard,
  proposeGuard,
} from '../../engine/learning/guard-flow.ts';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { recordOwnTrace } from '../trace/own.ts';

export const guardHandlers: Handlers<'guards'> = {
  guardProposals: listGuards,
  guardProposal: showGuard,
  proposeGuard: propose,
  decideGuardProposal: decide,
  bypassGuard: bypass,
};

async function listGuards(services: Services, input: RouteRequest<'guardProposals'>): Promise<GuardProposalView[]> {
  const project = await projectOf(services, input.project);
  const tools = await toolsOf(services, project);
  const all = await services.store.records({ noun: 'guard_proposal', projectId: project.id });
  const found = all
    .filter(({ status }) => input.status === undefined || status === input.status)
    .sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  return Promise.all(found.map((proposal) => view(tools, proposal)));
}

async function showGuard(services: Services, input: RouteRequest<'guardProposal'>): Promise<GuardProposalView> {
  const { tools, proposal } = await find(services, input);
  return view(tools, proposal);
}

async function propose(services: Services, input: Signed<'proposeGuard'>): Promise<GuardProposalView> {
  const project = await projectOf(services, input.project);
  const tools = await toolsOf(services, project);
  const { yaml, why, key, traceIds, by } = input;
  return view(tools, await proposeGuard(tools, { yaml, why, traceIds, by, ...(key === undefined ? {} : { key }) }));
}

async function decide(services: Services, input: Signed<'decideGuardProposal'>): Promise<GuardProposalView> {
  const { tools, proposal } = await find(services, input);
  const { decision, yaml, why, by } = input;
  return view(
    tools,
    await decideGuard(tools, proposal, { decision, why, by, ...(yaml === undefined ? {} : { yaml }) }),
  );
}

async function bypass(services: Services, input: Signed<'bypassGuard'>): Promise<PassedGuard> {
  const { why, by } = input;
  const project = await projectOf(services, input.project);
  const task = input.task === undefined ? null : await taskOf(services, project, input.task);
  const taskId = task?.id ?? null;
  const known = await lookFor(services, project, input.guard);
  if (known && isLiveGuard(known)) {
    const tools = await toolsOf(services, project);
    await bypassGuard(tools, known, { taskId, why, by });
    return view(tools, (await services.store.record('guard_proposal', known.id))!);
  }
  await passGuard(await toolsOf(services, project), input.guard, { taskId, by });
  const what = `Let one call pass the guard ${input.guard}`;
  await recordOwnTrace(services, project, {
    ...{ type: 'approval', what, correct: null, why, files: [], key: `bypass:${input.guard}`, task, by },
  });
  return { name: input.guard };
}

async function lookFor(services: Services, project: Project, guard: string): Promise<GuardProposal | undefined> {
  const all = await services.store.records({ noun: 'guard_proposal', projectId: project.id });
  const named = all.filter(({ id, name }) => id === guard || name === guard);
  // A name may be used again after a refusal.
  return named.find(isLiveGuard) ?? named.toSorted((a, b) => b.createdAt - a.createdAt)[0];
}

async function find(services: Services, input: { project: string; guard: string }) {
  const project = await projectOf(services, input.project);
  const proposal = await lookFor(services, project, input.guard);
  if (proposal) return { project, proposal, tools: await toolsOf(services, project) };
  throw new AppError('not_found', `there is no proposed guard ${input.guard}`, {
    hint: '`tidemill guards` lists them.',
  });
}

async function toolsOf({ store, clock, repositories }: Services, project: Project): Promise<GuardTools> {
  const tools = await repositories.guardToolsOf(project);
  return { store, clock, project, hash: (text) => hash('sha256', text), ...tools };
}

async function view({ guards }: GuardTools, proposal: GuardProposal): Promise<GuardProposalView> {
  const text = await guards.read(proposal.name);
  const own = [guardFileText(proposal, 'observe'), guardFileText(proposal, 'enforce')];
  const fileState = text === null ? 'missing' : own.includes(text) ? 'same' : 'changed';
  return { ...proposal, file: guardFile(proposal.name), fileState };
}
