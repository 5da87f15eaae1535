import type { Proposal } from '@tidemill/contract';
import type { CommandOf } from '@tidemill/core';
import type { Workspace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { KnownWork } from './known-work.ts';
import { openItems } from './open-items.ts';

/** What is found out about a proposal: whether it names real things, and whether it is new. */
export async function checkProposal(
  deps: EngineDeps,
  known: KnownWork,
  proposal: Proposal,
  others: Iterable<Proposal>,
): Promise<CommandOf<'proposal.check'>> {
  const { id: proposalId, categoryId } = proposal;
  const about = { type: 'proposal.check', projectId: deps.project.id, proposalId, categoryId } as const;
  const missing = await missingIn(deps, proposal);
  if (missing.length > 0) return { ...about, verdict: 'invalid', why: missing.join('; '), related: [] };
  const { isTwin, related } = await known.like(proposal, others, await openItems(deps));
  if (!isTwin) return { ...about, verdict: 'waiting', why: '', related };
  const [twin] = related;
  const why = `it is the same as ${twin!.ref} "${twin!.title}" (${twin!.state}, ${Math.round(twin!.likeness * 100)} % alike)`;
  return { ...about, verdict: 'duplicate', why, related };
}

/** Files, packages and tasks that it names and that do not exist. */
async function missingIn(deps: EngineDeps, { draft }: Proposal): Promise<string[]> {
  const { workspace, improvements, store, project } = deps;
  const there = await filesThere(workspace, [...draft.files, ...draft.newFiles]);
  const absent = draft.files.filter((file) => !there.has(file));
  const present = draft.newFiles.filter((file) => there.has(file));
  const packages = (await improvements?.stack())?.dependencies ?? new Set();
  const unknown: string[] = [];
  for (const name of draft.dependencies) {
    const number = /^#(\d+)$/.exec(name)?.[1];
    if (number !== undefined) {
      const task = await store.taskByNumber(project.id, Number(number));
      if (!task || task.stage === 'cancelled') unknown.push(name);
    } else if (!name.startsWith('node:') && !packages.has(packageName(name))) unknown.push(name);
  }
  return [
    ...(absent.length > 0 ? [`it names files that do not exist: ${absent.join(', ')}`] : []),
    ...(present.length > 0 ? [`it would make files that exist: ${present.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`it builds on what the project does not have: ${unknown.join(', ')}`] : []),
  ];
}

/** `react@19`, `requests>=2`: the name alone. */
const packageName = (name: string) => name.toLowerCase().replace(/(?<=.)[@<>=!~^ ].*$/, '');

/** Those of the paths that are files, or folders with files, in the target. */
async function filesThere(
  workspace: Pick<Workspace, 'filesAt' | 'targetCommit'>,
  paths: string[],
): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const all = await workspace.filesAt(await workspace.targetCommit(), ['**']);
  const files = new Set(all.map(([file]) => file));
  const isThere = (path: string) => {
    const plain = path.replace(/^\.\//, '').replace(/\/+(\*+)?$/, '');
    return files.has(plain) || [...files].some((file) => file.startsWith(`${plain}/`));
  };
  return new Set(paths.filter(isThere));
}
