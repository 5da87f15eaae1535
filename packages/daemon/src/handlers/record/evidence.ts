import { hash } from 'node:crypto';
import {
  AppError,
  type Evidence,
  type LoggedEvent,
  type Project,
  type RouteRequest,
  type Verification,
} from '@tidemill/contract';
import { CHAIN_START, chainFaults } from '@tidemill/core';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import { commitFacts, contains } from './commit.ts';
import { outputOf } from './evidence-output.ts';

const PAGE = 1000;

export async function listEvidence(services: Services, input: RouteRequest<'evidence'>) {
  const project = await projectOf(services, input.project);
  const taskId = input.task === undefined ? undefined : (await taskOf(services, project, input.task)).id;
  const { afterPosition, limit } = input;
  return services.store.evidence({ projectId: project.id, afterPosition, limit, taskId });
}

/** Verifies that a landed commit has the tree that passed the required gates, as its trailer says. */
export async function verifyEvidence(services: Services, input: RouteRequest<'verifyEvidence'>): Promise<Verification> {
  const project = await projectOf(services, input.project);
  const revision = input.commit ?? project.rules.target;
  const facts = await commitFacts(project.root, revision);
  if (!facts) {
    throw new AppError('not_found', `"${revision}" is not a commit of ${project.name}`, {
      hint: 'Name a commit that git knows, such as HEAD or the first digits of its hash.',
    });
  }
  const { commit, tree, subject, trailers } = facts;
  const number = /^#(\d+)$/.exec(trailers.task ?? '')?.[1];
  const checks: Verification['checks'] = [];
  const note = (name: string, ok: boolean, text: string) => checks.push({ name, ok, text });

  const hash = trailers.evidence;
  if (number === undefined || hash === undefined) {
    note('trailers', false, 'the message has no Task and Evidence trailers: Tidemill did not land this commit');
    return { commit, subject, task: null, tree, ok: false, checks };
  }
  note('trailers', true, `Task: #${number}, Evidence: ${hash.slice(0, 12)}`);

  const link = await services.store.evidenceByHash(hash);
  if (!link || link.projectId !== project.id) {
    note('evidence', false, `no evidence with the hash ${hash.slice(0, 12)} is recorded here`);
  } else {
    note('evidence', true, `recorded as link ${link.position} of the chain`);
    const prepared = await preparedOf(services, project, { commit, number: Number(number) });
    await checkTree(project, { commit, tree, checked: link.tree, lands: prepared?.lands }, note);
    await checkGates(
      services,
      project,
      { prepared, tree: link.tree, number: Number(number), isOwn: link.tree === tree },
      note,
    );
  }
  const faults = await chainFaultsOf(services, project);
  note('chain', faults.length === 0, faults[0] ?? `all ${project.evidence.count} links are valid`);
  return { commit, subject, task: Number(number), tree, ok: checks.every((check) => check.ok), checks };
}

type Note = (name: string, ok: boolean, text: string) => void;
type Prepared = Extract<LoggedEvent['body'], { type: 'merge.prepared' }>;

/** In a batch the tree of its last commit was checked: the commit must lie below that one. */
async function checkTree(
  { root }: Project,
  { commit, tree, checked, lands }: { commit: string; tree: string; checked: string; lands: string | undefined },
  note: Note,
): Promise<void> {
  if (checked === tree)
    return note('tree', true, `proven alone: the commit has the tree that was checked, ${tree.slice(0, 12)}`);
  const last = lands ? await commitFacts(root, lands) : null;
  const isBelow = last?.tree === checked && (await contains(root, last.commit, commit));
  note(
    'tree',
    isBelow,
    isBelow
      ? `proven as part of the batch that ends in ${last.commit.slice(0, 12)}: the tree of that commit was checked, ${checked.slice(0, 12)}, not this commit's own`
      : `the commit has the tree ${tree.slice(0, 12)}, but ${checked.slice(0, 12)} was checked`,
  );
}

/** The record of the commit's landing, which names the evidence. */
async function preparedOf(
  services: Services,
  project: Project,
  landed: { commit: string; number: number },
): Promise<Prepared | null> {
  const task = await services.store.taskByNumber(project.id, landed.number);
  if (!task) return null;
  const events = await services.store.events({
    projectId: project.id,
    taskId: task.id,
    types: ['merge.prepared'],
    after: 0,
    limit: PAGE,
  });
  const prepared = events.findLast(({ body }) => body.type === 'merge.prepared' && body.commit === landed.commit)?.body;
  return prepared?.type === 'merge.prepared' ? prepared : null;
}

/** The required gates are those in the log when the commit was prepared, not those of the current config. */
async function checkGates(
  services: Services,
  project: Project,
  { prepared, tree, number, isOwn }: { prepared: Prepared | null; tree: string; number: number; isOwn: boolean },
  note: Note,
): Promise<void> {
  if (!prepared) return note('gates', false, `the log has no record that this commit was prepared for #${number}`);
  const recorded = await services.store.evidenceForTree(project.id, tree);
  const named = prepared.evidence.map((ref) => recorded.find((link) => link.id === ref || link.hash === ref));
  const bad = named.filter((link) => link?.status !== 'pass');
  const gates = named.flatMap((link) => (link ? [link.gate] : []));
  if (named.length === 0) return note('gates', false, 'no gate was recorded for this commit');
  if (bad.length > 0) return note('gates', false, `${bad.length} of ${named.length} gates did not pass for this tree`);
  const what = isOwn ? 'exactly this tree' : 'the last tree of the batch';
  note('gates', true, `passed for ${what}: ${gates.join(', ')}`);
  const { ok, text } = await outputOf(
    services,
    named.filter((link) => link !== undefined),
  );
  note('output', ok, text);
}

/** Checks every link of a project's chain, and that its head matches the project. */
export async function chainFaultsOf({ store }: Services, project: Project): Promise<string[]> {
  let prev = CHAIN_START;
  let position = 0;
  for (;;) {
    const links: Evidence[] = await store.evidence({ projectId: project.id, afterPosition: position, limit: PAGE });
    const faults = chainFaults(links, { prev, position }, (text) => hash('sha256', text));
    if (faults.length > 0) return faults;
    const last = links.at(-1);
    if (last) [prev, position] = [last.hash, last.position];
    if (links.length < PAGE) break;
  }
  const { head, count } = (await store.project(project.id))?.evidence ?? project.evidence;
  // The chain may grow meanwhile. Only a shorter chain than recorded has lost links.
  if (position < count) return [`the chain ends at link ${position}, but ${count} were recorded`];
  if (position === count && prev !== head) return ['the newest link is not the recorded head of the project'];
  return [];
}
