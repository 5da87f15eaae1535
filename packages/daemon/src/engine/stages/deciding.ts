import type { Task } from '@tidemill/contract';
import {
  agreedContents,
  type ChangedFile,
  type Deciding,
  decidingFiles,
  isReviewed,
  manifestsOf,
  workflowFiles,
} from '@tidemill/core';
import type { Gates, Preparation, Workspace, WorktreeRef } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

interface Sources {
  workspace: Pick<Workspace, 'changedFiles'>;
  gates: Pick<Gates, 'checks'>;
  preparation?: Pick<Preparation, 'checks'>;
}

type Trees = { base: string; tree: string };

/** The changed files that control what gates check, for the reviewer. */
export const decidingIn = (sources: Sources, { number, branch }: Task) => look(sources, { number, branch });

/**
 * If a task without review changes what gates check, holds it until a person approves. Checks the exact trees that
 * would land. Returns true when the lease was released.
 */
export async function holdForPerson(deps: EngineDeps, leased: LeasedTask, trees: Trees): Promise<boolean> {
  if (isReviewed(deps.project.rules, leased.task)) return false;
  // A file of GitHub that a person agreed to push needs no second question.
  const agreed = agreedContents(leased.task);
  const isOpen = (file: ChangedFile) =>
    workflowFiles([file], deps.hash).every(({ content }) => !agreed.includes(content));
  const files = await look(deps, leased.ref, trees, isOpen);
  if (files.length === 0) return false;
  const reply = await leased.execute({ type: 'stage.hold', files });
  if (!reply.ok) throw new Error(`stage.hold was refused: ${reply.refusal.message}`);
  return reply.task?.lease?.token !== leased.token;
}

async function look(
  { workspace, gates, preparation }: Sources,
  ref: WorktreeRef,
  trees?: Trees,
  isOpen: (file: ChangedFile) => boolean = () => true,
): Promise<Deciding[]> {
  // Gates use what prepare makes, so its scripts decide too.
  const checks = [...gates.checks, ...(preparation?.checks ?? [])];
  const { changed, before } = await workspace.changedFiles(ref, { trees, alsoBefore: manifestsOf(checks) });
  return decidingFiles({ checks, changed: changed.filter(isOpen), manifests: before });
}
