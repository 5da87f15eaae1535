import type { Project, Task } from '@tidemill/contract';
import {
  type ChangedFile,
  type Deciding,
  decidingFiles,
  type GateReads,
  isSource,
  manifestsOf,
  pathOf,
} from '@tidemill/core';
import type { Gates, Preparation, Workspace, WorktreeRef } from '../../ports.ts';

interface Sources {
  workspace: Pick<Workspace, 'changedFiles'>;
  gates: Pick<Gates, 'checks' | 'reads'>;
  project: Pick<Project, 'rules'>;
  preparation?: Pick<Preparation, 'checks' | 'reads'>;
}

type Trees = { base: string; tree: string };

/** Changed files that decide what gates check. `changed`: those of them that are no product source, as the trees have them. */
export interface FoundDeciding {
  deciding: Deciding[];
  changed: ChangedFile[];
}

/** The changed files that control what gates check, for the reviewer. */
export const decidingIn = async (sources: Sources, { number, branch }: Task) =>
  (await findDeciding(sources, { number, branch })).deciding;

export async function findDeciding(
  { workspace, gates, preparation, project }: Sources,
  ref: WorktreeRef,
  trees?: Trees,
  isOpen: (file: ChangedFile) => boolean = () => true,
): Promise<FoundDeciding> {
  // Gates use what prepare makes, so its scripts decide too.
  const checks = [...gates.checks, ...(preparation?.checks ?? [])];
  const reads = [...((await gates.reads?.()) ?? []), ...(await readsOf(preparation))];
  const { changed, before } = await workspace.changedFiles(ref, { trees, alsoBefore: manifestsOf(checks) });
  const open = changed.filter(isOpen);
  const deciding = decidingFiles({ checks, changed: open, manifests: before, reads, source: project.rules.source });
  const paths = new Set(deciding.map(pathOf));
  const isCheck = (path: string) => paths.has(path) && !isSource(path, project.rules.source ?? []);
  return { deciding, changed: changed.filter(({ path }) => isCheck(path)) };
}

const NOTHING: ReadonlySet<string> = new Set();

async function readsOf(preparation: Sources['preparation']): Promise<GateReads[]> {
  if (!preparation) return [];
  const files = await preparation.reads();
  return [{ gate: '', of: 'prepare', files, seen: NOTHING, folders: NOTHING, missing: NOTHING, watched: NOTHING }];
}
