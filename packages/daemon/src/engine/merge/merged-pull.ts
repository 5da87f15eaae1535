import type { Candidate, PullRequest } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Prover } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { waitFor } from './land.ts';

const SOON = { untilMs: 5_000, maxMs: 10 * 60_000 };
const HELD = { untilMs: 60_000, maxMs: 10 * 60_000 };

/**
 * The task's pull request is merged, by whomever. The task is done when the target here has the commit. What was done
 * since is returned as a candidate: it needs a pull request of its own. Null: the stage is over.
 */
export async function settleMerged(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest,
  candidate: Candidate,
  prover: Prover,
): Promise<Candidate | null> {
  const { workspace, project } = deps;
  const commit = mergeCommitOf(pull);
  if (!(await workspace.isLanded(commit))) {
    const why = `Pull request #${pull.number} is merged on GitHub. It is done when ${project.rules.target} here has it.`;
    await waitFor(leased, why, SOON);
    return null;
  }
  const rest = await restAfter(deps, leased, pull, candidate);
  if (rest) return rest;
  await finish(deps, leased, pull, candidate.base, prover);
  return null;
}

async function restAfter(
  { workspace }: EngineDeps,
  { task, ref }: LeasedTask,
  pull: PullRequest,
  candidate: Candidate,
): Promise<Candidate | null> {
  const commit = mergeCommitOf(pull);
  if (candidate.kind === 'empty') return null;
  if (task.offered) {
    // What was offered after the merge contains it. A crash came before its own pull request was recorded.
    const isLater = (await workspace.commitsBetween(task.offered.commit, commit, 1)).length === 0;
    return isLater ? candidate : null;
  }
  if (task.head?.commit === pull.head) return null;
  await workspace.followMerge(ref, { head: pull.head, commit });
  const rest = await workspace.candidate(ref);
  return rest.kind === 'empty' ? null : rest;
}

async function finish(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest,
  base: string,
  prover: Prover,
): Promise<void> {
  const { task } = leased;
  const commit = mergeCommitOf(pull);
  await leased.must({ type: 'merge.note_pull', number: pull.number, url: pull.url });
  const work = task.offered ?? task.head!;
  const same = async () => ({ commit: work.commit, tree: work.tree, files: [], base });
  // Proven already, unless the settings of the gates have changed since.
  const proof = await prover.prove(leased, await same(), same);
  if (proof.kind === 'failed')
    return waitFor(leased, `It was merged, but fails the gates as they are set now: ${proof.gates.join(', ')}.`, HELD);
  await leased.must({ type: 'merge.prepare', commit, tree: work.tree, base });
  await leased.must({ type: 'merge.land', commit });
  await deps.workspace.remove(leased.ref);
}

const mergeCommitOf = ({ mergeCommit, head }: PullRequest): string => mergeCommit ?? head;
