import { hash } from 'node:crypto';
import { AppError, type Evidence, type Project, type RouteRequest, type Verification } from '@tidemill/contract';
import { CHAIN_START, chainFaults } from '@tidemill/core';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import { commitFacts } from './commit.ts';

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
    const isSame = link.tree === tree;
    note(
      'tree',
      isSame,
      isSame
        ? `the commit has the tree that was checked, ${tree.slice(0, 12)}`
        : `the commit has the tree ${tree.slice(0, 12)}, but ${link.tree.slice(0, 12)} was checked`,
    );
    await checkPrepared(services, project, { commit, tree, number: Number(number) }, note);
  }
  const faults = await chainFaultsOf(services, project);
  note('chain', faults.length === 0, faults[0] ?? `all ${project.evidence.count} links are valid`);
  return { commit, subject, task: Number(number), tree, ok: checks.every((check) => check.ok), checks };
}

/** The required gates are those in the log when the commit was prepared, not those of the current config. */
async function checkPrepared(
  services: Services,
  project: Project,
  landed: { commit: string; tree: string; number: number },
  note: (name: string, ok: boolean, text: string) => void,
): Promise<void> {
  const task = await services.store.taskByNumber(project.id, landed.number);
  if (!task) return note('gates', false, `there is no task #${landed.number}`);
  const events = await services.store.events({
    projectId: project.id,
    taskId: task.id,
    types: ['merge.prepared'],
    after: 0,
    limit: PAGE,
  });
  const prepared = events.findLast(({ body }) => body.type === 'merge.prepared' && body.commit === landed.commit)?.body;
  if (prepared?.type !== 'merge.prepared') {
    return note('gates', false, `the log has no record that this commit was prepared for #${landed.number}`);
  }
  const recorded = await services.store.evidenceForTree(project.id, landed.tree);
  const named = prepared.evidence.map((ref) => recorded.find((link) => link.id === ref || link.hash === ref));
  const bad = named.filter((link) => link?.status !== 'pass');
  const gates = named.flatMap((link) => (link ? [link.gate] : []));
  if (named.length === 0) return note('gates', false, 'no gate was recorded for this commit');
  if (bad.length > 0) return note('gates', false, `${bad.length} of ${named.length} gates did not pass for this tree`);
  note('gates', true, `passed for exactly this tree: ${gates.join(', ')}`);
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
