import type { Candidate, Pushed } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { vetoLosses } from '../stages/merge-loss.ts';
import { judgeWork } from '../stages/old-checks.ts';
import { type Prover, proofHash } from '../stages/prove.ts';
import { holdWorkflows } from '../stages/workflow-files.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { holdForPerson } from './hold-for-person.ts';
import { landingMessage } from './land.ts';
import { heldByOldChecks } from './old-checks.ts';
import { sendBackWithTarget } from './send-back.ts';
import { blindGates, holdBlind } from './tripwire.ts';

type Clean = Extract<Candidate, { kind: 'clean' }>;
type Trees = Pick<Clean, 'tree' | 'base'>;

/**
 * Before work lands or is pushed: what a merge dropped, files that GitHub runs, and files that control what gates check.
 * Returns true when a person must decide first, or the work went back to the agent.
 */
export const isHeld = async (deps: EngineDeps, leased: LeasedTask, trees: Trees, prover: Prover): Promise<boolean> =>
  (await isHeldAnyway(deps, leased, trees)) || (await holdForPerson(deps, leased, trees, prover));

/** Also if a person merges it: GitHub runs what is pushed, and nobody sees what a merge dropped. */
const isHeldAnyway = async (deps: EngineDeps, leased: LeasedTask, trees: Trees): Promise<boolean> =>
  (await vetoLosses(deps, leased)) || (await holdWorkflows(deps, leased, trees));

/**
 * Proves the branch with the newest target and pushes it. `isMergedByPerson`: files that control what gates check need no
 * question, because a person looks at the change before it is merged. Null: the lease was released.
 */
export async function pushProven(
  deps: EngineDeps,
  leased: LeasedTask,
  { tree: own, base, files }: Clean,
  { prover, isMergedByPerson }: { prover: Prover; isMergedByPerson: boolean },
): Promise<Exclude<Pushed, { kind: 'pushed' }> | { kind: 'offered'; name: string } | null> {
  const hold = isMergedByPerson ? isHeldAnyway : isHeld;
  if (await hold(deps, leased, { base, tree: own }, prover)) return null;
  const trial = async (proven: string) => {
    const commit = await deps.workspace.seal(leased.ref, { tree: proven, base }, `Candidate of #${leased.task.number}`);
    return { commit, tree: proven, files, base };
  };
  const proof = await prover.prove(leased, await trial(own), trial);
  if (proof.kind === 'failed') {
    await sendBackWithTarget(deps, leased, proof, []);
    return null;
  }
  const { tree } = proof.work;
  // A gate may have fixed files.
  if (await holdWorkflows(deps, leased, { base, tree })) return null;
  const part = { member: leased, files };
  const blind = await blindGates(deps, prover, leased, { commit: proof.work.commit, base, parts: [part] });
  if (blind.length > 0) {
    await holdBlind(deps, part, blind);
    return null;
  }
  // A person who merges reads it in the pull request.
  if (isMergedByPerson) await judgeWork(deps, leased, prover, { base, tree });
  else {
    const layers = [{ member: leased, tree, files, trial: proof.work.commit }];
    if ((await heldByOldChecks(deps, { base, layers }, prover)).length > 0) return null;
  }
  const message = landingMessage(leased.task, await proofHash(deps, tree));
  const { pushed, commit } = await deps.workspace.pushBranch(leased.ref, { tree, base, message });
  if (pushed.kind !== 'pushed') return pushed;
  const name = `${pushed.name.split('/')[0]}/${leased.ref.branch}`;
  await leased.must({ type: 'work.commit', commit, tree, notes: [] });
  await leased.must({ type: 'merge.offer', commit, tree, name });
  return { kind: 'offered', name };
}
