import type { EventBody, Evidence, Project, ProjectRules, Receipt } from '@tidemill/contract';
import { checkFence } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { TaskGate } from './task-gate.ts';

/** The first link's `prev`. */
export const CHAIN_START = '';

/**
 * A link's hash covers the receipt, its place in the chain and the previous link. Field order is part of the format.
 * Old receipts without level, environment and config, or without findings, are hashed in their original form.
 */
export function evidenceHash(link: Omit<Evidence, 'hash'>, hash: (text: string) => string): string {
  const { id, prev, position, projectId, taskId, gate, command, tree } = link;
  const {
    status,
    exitCode,
    durationMs,
    counts,
    logHash,
    at,
    level,
    environment,
    config,
    attempt,
    severity,
    scan,
    fewerThan,
  } = link;
  const isBare = level === '' && environment === '' && config === '' && attempt === 1;
  return hash(
    JSON.stringify([
      id,
      prev,
      position,
      projectId,
      taskId,
      gate,
      command,
      tree,
      status,
      exitCode,
      durationMs,
      counts,
      logHash,
      at,
      ...(isBare ? [] : [level, environment, config, attempt]),
      ...(severity || scan || fewerThan ? [severity ?? 'block', scan ?? null] : []),
      ...(fewerThan ? [fewerThan] : []),
    ]),
  );
}

/** The faults of a part of the chain; empty when it is intact. */
export function chainFaults(
  links: Evidence[],
  start: { prev: string; position: number },
  hash: (text: string) => string,
): string[] {
  const faults: string[] = [];
  let { prev, position } = start;
  for (const link of links) {
    position += 1;
    if (link.position !== position) faults.push(`link ${link.position} is at position ${position}`);
    if (link.prev !== prev) faults.push(`link ${link.position} does not follow the previous link`);
    if (evidenceHash(link, hash) !== link.hash)
      faults.push(`link ${link.position} (${link.gate}) was changed after it was recorded`);
    prev = link.hash;
    position = link.position;
  }
  return faults;
}

/** The newest receipt of each gate for a tree. Receipts made under other settings of the gate do not count. */
export function newestByGate(links: Evidence[], configs: ProjectRules['gateConfigs'] = {}): Map<string, Evidence> {
  const newest = new Map<string, Evidence>();
  for (const link of links) {
    if (link.config !== (configs[link.gate] ?? link.config)) continue;
    const known = newest.get(link.gate);
    if (!known || known.position < link.position) newest.set(link.gate, link);
  }
  return newest;
}

type Judge = Pick<Project, 'id' | 'rules'>;

/** What a tree must have passed: gates of the project, and those of its task. */
export interface Required {
  gates: readonly string[];
  own: readonly TaskGate[];
}

/** The receipts with which the tree passed. A task's own gate counts only with the command that it has now. */
export function passingEvidence(slice: Slice, project: Judge, tree: string, { gates, own }: Required): Evidence[] {
  const newest = newestByGate(slice.list('evidenceFor', project.id, tree), project.rules.gateConfigs);
  const links = [
    ...gates.map((gate) => newest.get(gate)),
    ...own.map(({ name, run }) => (newest.get(name)?.command === run ? newest.get(name) : undefined)),
  ];
  return links.filter((evidence) => evidence?.status === 'pass') as Evidence[];
}

export function hasPassed(slice: Slice, project: Judge, tree: string, required: Required): boolean {
  return passingEvidence(slice, project, tree, required).length === required.gates.length + required.own.length;
}

export function recordEvidence(slice: Slice, command: CommandOf<'evidence.record'>, env: DecideEnv): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const links = chain(checked.project, command.subjectId, command.receipts, env);
  return accept(...links.map((evidence): EventBody => ({ type: 'evidence.recorded', evidence })));
}

/** The receipts as the next links. `taskId`: what they were made for, a task or a delivery. */
export function chain(project: Project, taskId: string, receipts: Receipt[], env: DecideEnv): Evidence[] {
  let prev = project.evidence.head;
  let position = project.evidence.count;
  return receipts.map((receipt) => {
    position += 1;
    const link = { ...receipt, id: env.newId('evidence'), projectId: project.id, taskId, position, at: env.now, prev };
    const hash = evidenceHash(link, env.hash);
    prev = hash;
    return { ...link, hash };
  });
}
