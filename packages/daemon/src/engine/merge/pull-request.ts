import type { Candidate } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { vetoLosses } from '../stages/merge-loss.ts';
import { proofHash } from '../stages/prove.ts';
import { holdWorkflows } from '../stages/workflow-files.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { landingMessage, waitFor } from './land.ts';
import type { MergeTools } from './merge-stage.ts';
import { endAsEmpty, sendBackConflict, sendBackWithTarget } from './send-back.ts';

/** Pause before a task whose branch was pushed looks at the target again. */
const LOOK_AGAIN_MS = 60_000;
const REFUSED = { untilMs: LOOK_AGAIN_MS, maxMs: 10 * LOOK_AGAIN_MS };

/**
 * With `push: branch` others merge. The branch is pushed when it passes the gates with the newest target, and the task
 * waits until the target has it.
 *
 *   proven ──push the branch──▶ offered ──the target has it──▶ done
 *                                  └─ conflicts with the target ──▶ back to the agent
 */
export async function offerBranch(
  deps: EngineDeps,
  leased: LeasedTask,
  candidate: Candidate,
  { prover }: MergeTools,
): Promise<void> {
  const { offered } = leased.task;
  if (offered && (candidate.kind === 'empty' || (await deps.workspace.isLanded(offered.commit))))
    return finish(deps, leased, candidate.base);
  if (candidate.kind === 'empty') return endAsEmpty(leased);
  if (candidate.kind === 'conflict') return sendBackConflict(deps, leased, candidate.files);
  if (offered) return look(leased, offered.name);
  const { tree, base, files } = candidate;
  if ((await vetoLosses(deps, leased)) || (await holdWorkflows(deps, leased, { base, tree }))) return;
  const trial = async (proven: string) => {
    const commit = await deps.workspace.seal(leased.ref, { tree: proven, base }, `Candidate of #${leased.task.number}`);
    return { commit, tree: proven, files, base };
  };
  const proof = await prover.prove(leased, await trial(tree), trial);
  if (proof.kind === 'failed') return sendBackWithTarget(deps, leased, proof, []);
  // A gate may have fixed files.
  if (await holdWorkflows(deps, leased, { base, tree: proof.work.tree })) return;
  const message = landingMessage(leased.task, await proofHash(deps, proof.work.tree));
  const { pushed, commit } = await deps.workspace.pushBranch(leased.ref, { tree: proof.work.tree, base, message });
  if (pushed.kind === 'pushed') {
    const name = `${pushed.name.split('/')[0]}/${leased.ref.branch}`;
    await leased.must({ type: 'work.commit', commit, tree: proof.work.tree, notes: [] });
    await leased.must({ type: 'merge.offer', commit, tree: proof.work.tree, name });
    return look(leased, name);
  }
  const why =
    pushed.kind === 'none'
      ? 'push is set to branch, but the repository has no remote. Add one, or set `push: never`.'
      : `The branch ${leased.ref.branch} could not be pushed: ${pushed.why}`;
  await waitFor(leased, why, REFUSED);
}

const look = (leased: LeasedTask, name: string) =>
  leased.must({
    type: 'stage.wait',
    why: `It is pushed as ${name}. It is done when its pull request is merged.`,
    untilMs: LOOK_AGAIN_MS,
  });

/** The pull request was merged, perhaps as another commit. */
async function finish(deps: EngineDeps, leased: LeasedTask, target: string): Promise<void> {
  const { commit, tree } = leased.task.offered!;
  const landed = (await deps.workspace.isLanded(commit)) ? commit : target;
  await leased.must({ type: 'merge.prepare', commit: landed, tree, base: target });
  await leased.must({ type: 'merge.land', commit: landed });
  await deps.workspace.remove(leased.ref);
}
