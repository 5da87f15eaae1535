import type { OldChecks, Task } from '@tidemill/contract';
import { type ChangedFile, type Deciding, isAcceptedFailure, isReviewed, judgedFor } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { findDeciding } from '../stages/deciding.ts';
import { withFewerTests } from '../stages/fewer-tests.ts';
import { judge } from '../stages/old-checks.ts';
import type { Prover } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import type { Batch } from './batch.ts';
import { type Landed, landStack } from './land.ts';
import type { MergeTools } from './merge-stage.ts';
import type { Stack } from './stack.ts';

/** A task that changes files that decide, with them. */
interface Changer {
  member: LeasedTask;
  task: Task;
  files: Deciding[];
  changed: ChangedFile[];
}

/** Lands proven layers, unless the target's own checks found something that nobody has seen yet. */
export async function landJudged(
  deps: EngineDeps,
  batch: Batch,
  stack: Stack,
  { prover, target }: MergeTools,
): Promise<Landed> {
  const held = await heldByOldChecks(deps, stack, prover);
  for (const member of held) batch.drop(member);
  // Without the first one there is no batch to go on with.
  if (held.includes(batch.head)) return 'waiting';
  return held.length > 0 ? 'again' : landStack(deps, batch, stack, target);
}

/**
 * Before proven layers land: the target's versions of everything that decides run once more on the new code, for all tasks
 * together. Only if that fails, each task's files are put back alone, to find out whose it is. Such a task waits for a
 * person. Returns those that wait; their leases were released.
 */
export async function heldByOldChecks(deps: EngineDeps, stack: Stack, prover: Prover): Promise<LeasedTask[]> {
  const changers = (await changersIn(deps, stack)).filter((changer) => !isKnownToFail(deps, changer));
  const [first] = changers;
  if (!first) return [];
  const { tree } = stack.layers.at(-1)!;
  const judgeThose = (those: Changer[]) => {
    const changed = [...new Map(those.flatMap((each) => each.changed).map((file) => [file.path, file])).values()];
    const known = changers.map(({ task }) => task);
    return judge(deps, first.member, prover, { tree, base: stack.base, changed }, known);
  };
  const together = await judgeThose(changers);
  const found = new Map(changers.map((changer) => [changer, together]));
  if (together.result === 'failed' && changers.length > 1) {
    for (const changer of changers) found.set(changer, await judgeThose([changer]));
    const isAnyAlone = [...found.values()].some(({ result }) => result === 'failed');
    if (!isAnyAlone) for (const changer of changers) found.set(changer, together);
  }
  const held: LeasedTask[] = [];
  for (const [changer, oldChecks] of found) if (await isHeldWith(changer, oldChecks)) held.push(changer.member);
  return held;
}

async function changersIn(deps: EngineDeps, { base, layers }: Stack): Promise<Changer[]> {
  const changers: Changer[] = [];
  for (const [at, { member, tree }] of layers.entries()) {
    const below = layers[at - 1]?.trial ?? base;
    const { deciding, changed } = await findDeciding(deps, member.ref, { base: below, tree });
    if (changed.length === 0) continue;
    // The question before had them, too, and an approval is for all of it.
    const files = [...deciding, ...(await withFewerTests(deps, [member.task.head?.tree, tree]))];
    changers.push({ member, task: (await deps.store.task(member.task.id)) ?? member.task, files, changed });
  }
  return changers;
}

/** A reviewer or a person has seen that they fail, and let it pass. */
function isKnownToFail({ project, hash }: EngineDeps, { task, files }: Changer): boolean {
  if (isAcceptedFailure(task, files, hash)) return true;
  const reviewed = task.head && isReviewed(project.rules, task) ? judgedFor(task, task.head.tree) : null;
  return reviewed?.result === 'failed';
}

async function isHeldWith({ member, task, files }: Changer, oldChecks: OldChecks): Promise<boolean> {
  const isNew = !task.oldChecks.some(({ tree, judged }) => tree === oldChecks.tree && judged === oldChecks.judged);
  if (isNew) await member.must({ type: 'work.judge', oldChecks });
  if (oldChecks.result !== 'failed') return false;
  const reply = await member.execute({ type: 'stage.hold', files, oldChecks });
  if (!reply.ok) throw new Error(`stage.hold was refused: ${reply.refusal.message}`);
  return reply.task?.lease?.token !== member.token;
}
