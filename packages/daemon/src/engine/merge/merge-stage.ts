import { taskGates, wayBack } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { blindObstacle } from '../reactors/tripwire-watch.ts';
import { isProven, type Prover } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { Batch } from './batch.ts';
import { settlePrepared, WATCHED, waitFor } from './land.ts';
import { landByPull } from './land-by-pull.ts';
import { waitForLarger } from './larger-first.ts';
import { waitForReturning } from './overtaken.ts';
import { proveAndLand } from './prove-batch.ts';
import { offerBranch } from './pull-request.ts';
import { endAsEmpty, sendBackConflict } from './send-back.ts';
import { stackUp } from './stack.ts';
import type { TargetSync } from './target-sync.ts';

/** Pause while a person must bring the target and its remote together. */
const HELD = { untilMs: 30_000, maxMs: 60_000 };
/** How often the target may move while a batch is proven. After that other work gets its turn. */
const MAX_ROUNDS = 10;

const over = async (end: Promise<void>): Promise<RoundEnd> => end.then(() => 'over');

/** What the merge stage shares with the other stages. */
export interface MergeTools {
  prover: Prover;
  target: TargetSync;
}

/** `over`: the stage of the first task has ended. `again`: the target or the batch has changed. */
export type RoundEnd = 'over' | 'again';

/**
 * Lands the head of the merge queue, together with tasks that wait behind it:
 *
 *   take in what others pushed ──▶ stack the tasks on the target ──▶ prove the top ──pass──▶ push, land all
 *                                                                       └─fail──▶ bisect ──▶ land what passes below
 *                                                                                  the culprit, send the culprit back
 *
 * One merger per project does this, so that landings do not compete.
 */
export async function mergeStage(deps: EngineDeps, head: LeasedTask, tools: MergeTools): Promise<void> {
  const batch = new Batch(deps, head);
  tools.target.retriesNow(head.task.id);
  try {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      head.check();
      if ((await turn(deps, batch, tools)) === 'over') return;
    }
    // Before the wait releases the task, or the project would look idle in between.
    tools.target.retriesSoon(head.task.id);
    await waitFor(head, tools.target.tooFast(MAX_ROUNDS));
  } finally {
    await batch.close();
  }
}

async function turn(deps: EngineDeps, batch: Batch, tools: MergeTools): Promise<RoundEnd> {
  const { workspace } = deps;
  const { head } = batch;
  const held = await tools.target.takeIn();
  const obstacle = held ?? (await workspace.landingObstacle());
  if (await settlePrepared(deps, head, tools.target)) return 'over';
  // With a pull request, that is looked at first: people may have merged it.
  const isOffered = deps.pullRequests && head.task.pull;
  if (!isOffered && wayBack(deps.project.rules, head.task) !== null)
    return over(head.must({ type: 'stage.return_to_builder' }));
  if (obstacle !== null) return over(waitFor(head, obstacle, held === null ? WATCHED : HELD));
  const blind = await blindObstacle(deps);
  if (blind !== null) return over(waitFor(head, blind, HELD));
  if (await waitForLarger(deps, head)) return 'over';
  const candidate = await workspace.candidate(head.ref);
  if (candidate.kind === 'clean' && (await waitForReturning(deps, head))) return 'over';
  if (deps.pullRequests) return over(landByPull(deps, head, candidate, { ...tools, ...deps.pullRequests }));
  if (deps.push === 'branch') return over(offerBranch(deps, head, candidate, tools));
  if (candidate.kind === 'conflict') return over(sendBackConflict(deps, head, candidate));
  if (candidate.kind === 'empty') return over(endAsEmpty(head));
  tools.prover.baseline.lookSoon();
  // One that is proven already lands at once; the others gain nothing by waiting for each other.
  if (!(await isProven(deps, candidate.tree, taskGates(head.task)))) await joinOthers(deps, batch);
  const stack = await stackUp(deps, batch, candidate, tools.prover);
  if (stack.layers.length === 0) return 'over';
  return proveAndLand(deps, batch, stack, tools);
}

/** A task that a crash interrupted while it landed, or that people commented on, gets its own turn. */
async function joinOthers(deps: EngineDeps, batch: Batch): Promise<void> {
  await batch.fill();
  for (const member of batch.members)
    if (member !== batch.head && (member.task.prepared || wayBack(deps.project.rules, member.task) !== null))
      await batch.release(member, 'it lands by itself, or goes back');
}
