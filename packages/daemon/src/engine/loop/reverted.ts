import type { Proposal } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';

/** How far back a revert is looked for at each look. */
const LOOKED_AT = 50;

/** Those of the landed proposals whose commit a newer commit of the target reverts. */
export async function revertedBy({ workspace, store, project }: EngineDeps, landed: Proposal[]): Promise<Proposal[]> {
  if (landed.length === 0) return [];
  const reverts = (await workspace.recentCommits(LOOKED_AT)).flatMap((commit) => commit.reverts);
  if (reverts.length === 0) return [];
  const ids = landed.flatMap(({ taskId }) => taskId ?? []);
  const tasks = await store.tasks({ projectId: project.id, ids });
  const isReverted = (commit: string | null) => commit !== null && reverts.some((hash) => commit.startsWith(hash));
  const gone = new Set(tasks.filter(({ landedCommit }) => isReverted(landedCommit)).map(({ id }) => id));
  return landed.filter(({ taskId }) => gone.has(taskId ?? ''));
}
