import type { Task } from '@tidemill/contract';
import { taskGates, withoutClosingKeywords } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { isProven, proofHash } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import type { Batch } from './batch.ts';
import type { Stack } from './stack.ts';
import type { TargetSync } from './target-sync.ts';

/** Pause before a landing that waits for a person checks again. It grows while the reason stays the same. */
const OFTEN = { untilMs: 5_000, maxMs: 60_000 };
/** LandingWatch wakes a task when the checkout is clean again, so it need not look often itself. */
export const WATCHED = { untilMs: 5_000, maxMs: 10 * 60_000 };

export type Landed = 'landed' | 'waiting' | 'again';

/**
 * Lands proven layers, one commit per task: seals the commits, records all of them, pushes, moves the target, records
 * that it moved. `again`: the target or the batch has changed meanwhile.
 */
export async function landStack(
  deps: EngineDeps,
  batch: Batch,
  { base, layers }: Stack,
  target: TargetSync,
): Promise<Landed> {
  const members = layers.map(({ member }) => member);
  const top = layers.at(-1)!.tree;
  const commits: string[] = [];
  const proven: string[] = [];
  for (const { member, tree } of layers) {
    // A commit that was proven alone says so; the others stand on the proof of the last one.
    proven.push((await isProven(deps, tree, taskGates(member.task))) ? tree : top);
    const message = landingMessage(member.task, await proofHash(deps, proven.at(-1)!));
    commits.push(await deps.workspace.seal(member.ref, { tree, base: commits.at(-1) ?? base }, message));
  }
  const tip = commits.at(-1)!;
  const lost = await batch.execute(members, (_member, i) => ({
    type: 'merge.prepare',
    commit: commits[i]!,
    tree: layers[i]!.tree,
    base,
    ...(members.length > 1 ? { batch: { commit: tip, tree: proven[i]! } } : {}),
  }));
  if (lost) return lose(lost, batch);
  const moved = await moveTarget(deps, target, tip, base);
  if (moved.kind !== 'landed') {
    if (!moved.isPublished) await batch.executeHeld(members, () => ({ type: 'merge.abandon', why: moved.why }));
    if (moved.kind === 'moved') return 'again';
    await waitFor(batch.head, moved.why);
    return 'waiting';
  }
  await batch.executeHeld(members, (member) => ({ type: 'merge.land', commit: commits[members.indexOf(member)]! }));
  for (const member of members) batch.drop(member);
  await Promise.all(members.map(({ ref }) => deps.workspace.remove(ref)));
  return 'landed';
}

function lose(member: LeasedTask, batch: Batch): Landed {
  batch.head.check();
  batch.drop(member);
  return 'again';
}

type Moved =
  | { kind: 'landed' }
  /** `isPublished`: the remote has it already, so it is only missing here. */
  | { kind: 'moved' | 'waiting'; why: string; isPublished: boolean };

/** The remote comes first: what it refuses does not land here either. */
async function moveTarget(deps: EngineDeps, target: TargetSync, commit: string, base: string): Promise<Moved> {
  const published = await target.publish(commit);
  if (published.kind !== 'go') return { ...published, isPublished: false };
  return moveHere(deps, commit, base, published.isPublished);
}

async function moveHere(deps: EngineDeps, commit: string, base: string, isPublished: boolean): Promise<Moved> {
  const landing = await deps.workspace.land(commit, base);
  if (landing.kind === 'landed' || (await deps.workspace.isLanded(commit))) return { kind: 'landed' };
  return { kind: landing.kind, why: landing.kind === 'waiting' ? landing.why : 'the target moved', isPublished };
}

/**
 * Finishes a landing that was cut short between its first and its last record. Returns true when the stage is over.
 * The members of a batch land together: each finds the others' commits in the target.
 */
export async function settlePrepared(deps: EngineDeps, leased: LeasedTask, target: TargetSync): Promise<boolean> {
  const task = await deps.store.task(leased.task.id);
  if (!task?.prepared) return false;
  const { commit, base, lands = commit } = task.prepared;
  const moved = await finish(deps, target, { commit, base, lands });
  if (moved.kind === 'landed') {
    await leased.must({ type: 'merge.land', commit });
    await deps.workspace.remove(leased.ref);
    return true;
  }
  if (moved.kind === 'waiting') {
    await waitFor(leased, moved.why);
    return true;
  }
  if (!moved.isPublished) {
    await leased.must({ type: 'merge.abandon', why: moved.why });
    return false;
  }
  // The remote has it. It arrives here with the next fetch.
  target.retriesSoon(leased.task.id);
  await waitFor(leased, moved.why);
  return true;
}

async function finish(
  deps: EngineDeps,
  target: TargetSync,
  { commit, base, lands }: { commit: string; base: string; lands: string },
): Promise<Moved> {
  if (await deps.workspace.isLanded(commit)) return { kind: 'landed' };
  return (await deps.workspace.isPublished(commit))
    ? moveHere(deps, lands, base, true)
    : moveTarget(deps, target, lands, base);
}

export async function waitFor(
  leased: LeasedTask,
  why: string,
  { untilMs, maxMs }: { untilMs: number; maxMs: number } = OFTEN,
): Promise<void> {
  await leased.must({ type: 'stage.wait', why, untilMs, landing: { maxMs } });
}

/** `tidemill evidence verify` starts from these trailers. */
export function landingMessage(task: Task, evidence: string): string {
  const built = task.context.findLast((entry) => entry.source === 'agent' && entry.entryType !== 'plan_summary');
  const summary = built?.said ?? built?.summary ?? '';
  const trailers = `Task: #${task.number}\nEvidence: ${evidence}`;
  return [withoutClosingKeywords(task.title), withoutClosingKeywords(summary.trim()), trailers]
    .filter((part) => part !== '')
    .join('\n\n');
}
