import type { Candidate } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { waitFor } from './land.ts';
import type { MergeTools } from './merge-stage.ts';
import { pushProven } from './push-proven.ts';
import { endAsEmpty, sendBackConflict } from './send-back.ts';

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
  if (candidate.kind === 'conflict') return sendBackConflict(deps, leased, candidate);
  if (offered) return look(leased, offered.name);
  const pushed = await pushProven(deps, leased, candidate, { prover, isMergedByPerson: true });
  if (!pushed) return;
  if (pushed.kind === 'offered') return look(leased, pushed.name);
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
