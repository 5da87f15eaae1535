import type { Task } from '@tidemill/contract';
import type { Snapshot, Store } from '../../ports.ts';
import { endOf } from './tasks.ts';

/** Numbers per query. */
const SOME = 500;
/** A snapshot of a task is taken at the latest when its worktree is removed. */
const AFTERWARDS_MS = 24 * 60 * 60_000;

/** The snapshots that may go: of tasks that ended before `expiry`, but never the last work of a task that did not land. */
export async function oldSnapshots(
  store: Store,
  projectId: string,
  snapshots: readonly Snapshot[],
  expiry: number,
): Promise<Snapshot[]> {
  const old = snapshots.filter(({ at }) => at < expiry);
  const numbers = [...new Set(old.map(({ number }) => number))];
  const chosen: Snapshot[] = [];
  for (let at = 0; at < numbers.length; at += SOME) {
    const tasks = await store.tasks({ projectId, numbers: numbers.slice(at, at + SOME) });
    for (const task of tasks) chosen.push(...chooseSnapshots(task, snapshots, expiry));
  }
  return chosen;
}

function chooseSnapshots(task: Task, snapshots: readonly Snapshot[], expiry: number): Snapshot[] {
  const endedAt = endOf(task);
  if (endedAt === null || endedAt >= expiry) return [];
  // Another data folder may have a task of the same number: one of another time is not this task's.
  const own = snapshots
    .filter(({ number, at }) => number === task.number && at >= task.createdAt && at <= endedAt + AFTERWARDS_MS)
    .sort((a, b) => a.at - b.at);
  const kept = task.landedCommit === null ? own.at(-1) : undefined;
  return own.filter((snapshot) => snapshot !== kept && snapshot.at < expiry);
}
