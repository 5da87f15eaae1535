import type { Task } from '@tidemill/contract';
import { type FoundConflict, taskGates, wouldOvertake } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { isProven } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/** Commits and landed tasks that are looked at. Those further back are not named. */
const MOST = 200;
/** The first pause of a landing that lets another one go first, and the longest. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;

/**
 * What is known about a conflict: whether the one before was resolved and proven, and who landed since. It was resolved if
 * the branch contains the target that it conflicted with; then only newer work of others can conflict again.
 */
export async function foundConflict(
  deps: EngineDeps,
  { task, ref }: LeasedTask,
  { base, files }: { base: string; files: string[] },
): Promise<FoundConflict> {
  const unknown = { base, isResolved: false, overtakenBy: [] };
  if (!task.conflicts || !task.head || !(await isProven(deps, task.head.tree, taskGates(task)))) return unknown;
  const { workspace } = deps;
  const own = (await workspace.open(ref)).base;
  const isContained = (await workspace.commitsBetween(own, task.conflicts.base, 1)).length === 0;
  if (!isContained) return unknown;
  return { base, isResolved: true, overtakenBy: await landedSince(deps, own, { base, files }) };
}

/** The tasks whose commits the target got since then and that changed one of the files, in the order of their landing. */
async function landedSince(
  { workspace, store, project }: EngineDeps,
  since: string,
  { base, files }: { base: string; files: string[] },
): Promise<number[]> {
  const commits = (await workspace.commitsBetween(since, base, MOST)).map(({ commit }) => commit);
  const done = await store.tasks({ projectId: project.id, stages: ['done'], newestFirst: true, limit: MOST });
  const byCommit = new Map(done.map((task) => [task.landedCommit, task]));
  const numbers: number[] = [];
  for (const commit of commits.reverse()) {
    const landed = byCommit.get(commit);
    if (!landed) continue;
    const changed = await workspace.filesIn(commit, 'parent');
    if (changed.some((file) => files.includes(file))) numbers.push(landed.number);
  }
  return numbers;
}

/**
 * Lets a task go first that came back from a conflict and was overtaken before, if landing this one would overtake it
 * again. Returns true when this one waits.
 */
export async function waitForReturning({ store, clock }: EngineDeps, leased: LeasedTask): Promise<boolean> {
  const { task } = leased;
  const ids = task.forecast.flatMap(({ taskId }) => taskId ?? []);
  // A task that conflicts with the target itself overtakes nobody.
  if (ids.length === 0 || task.forecast.some(({ taskId }) => taskId === null)) return false;
  const now = clock.now();
  const first = wouldOvertake(task, await store.tasks({ projectId: task.projectId, ids }), now);
  if (!first) return false;
  const untilMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (now - task.stageSince) / 4));
  await leased.must({ type: 'stage.wait', why: whyFirst(first), untilMs, isPassing: true });
  return true;
}

const whyFirst = ({ number, conflicts }: Task): string =>
  `#${number} resolves a conflict again (${conflicts!.resolved} of its resolutions were overtaken), so it lands first`;
