import type { Store } from '../../ports.ts';
import type { FileOwner } from './choice.ts';
import type { Tasks } from './tasks.ts';

/** The owner of a run's log; undefined when the store does not know the run. */
export async function ownerOfRun(store: Store, tasks: Tasks, runId: string): Promise<FileOwner | undefined> {
  const run = await store.run(runId);
  if (!run) return undefined;
  const { projectId, jobId, endedAt } = run;
  // A job is over with its last run; another run of it has a log of its own.
  const over = jobId === undefined ? await tasks.endedAt(run.subjectId) : endedAt;
  return { projectId, endedAt: endedAt === null || over === null ? null : Math.max(endedAt, over), isLanded: false };
}
