import type { Task } from '@tidemill/contract';
import { type Deciding, decidingFiles, isReviewed, manifestsOf } from '@tidemill/core';
import type { Gates, Workspace, WorktreeRef } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

interface Sources {
  workspace: Pick<Workspace, 'changedFiles'>;
  gates: Pick<Gates, 'checks'>;
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
  const files = await look(deps, leased.ref, trees);
  if (files.length === 0) return false;
  const reply = await leased.execute({ type: 'stage.hold', files });
  if (!reply.ok) throw new Error(`stage.hold was refused: ${reply.refusal.message}`);
  return reply.task?.lease?.token !== leased.token;
}

async function look({ workspace, gates: { checks } }: Sources, ref: WorktreeRef, trees?: Trees): Promise<Deciding[]> {
  const { changed, before } = await workspace.changedFiles(ref, { trees, alsoBefore: manifestsOf(checks) });
  return decidingFiles({ checks, changed, manifests: before });
}
