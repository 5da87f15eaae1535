import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { amend, touchesIn } from './conclusion.ts';
import { EnvironmentError } from './environment.ts';
import { vetoLosses } from './merge-loss.ts';
import type { Prover } from './prove.ts';
import { holdWorkflows } from './workflow-files.ts';

/** The verify stage: runs the gates on the branch's commit when there is no evidence yet. */
export async function verifyStage(deps: EngineDeps, leased: LeasedTask, prover: Prover): Promise<void> {
  try {
    await verify(deps, leased, prover);
  } catch (error) {
    // The target it is based on failed its gates and may be fixed now.
    if (!(error instanceof EnvironmentError) || !(await takeInTarget(deps, leased))) throw error;
    await verify(deps, leased, prover);
  }
}

/** Returns true if the newest target was merged into the branch. */
async function takeInTarget({ workspace }: EngineDeps, { ref }: LeasedTask): Promise<boolean> {
  const [{ base }, target] = await Promise.all([workspace.open(ref), workspace.targetCommit()]);
  if (base === target || (await workspace.candidate(ref)).kind !== 'clean') return false;
  return (await workspace.mergeTarget(ref)).files.length === 0;
}

async function verify(deps: EngineDeps, leased: LeasedTask, prover: Prover): Promise<void> {
  const { base } = await deps.workspace.open(leased.ref);
  const captured = await deps.workspace.capture(leased.ref, `#${leased.task.number} ${leased.task.title}`);
  const { commit, tree, notes } = captured;
  await leased.must({ type: 'work.commit', commit, tree, notes });
  if (await vetoLosses(deps, leased)) return;
  // A gate of CI pushes.
  if (deps.gates.ofChange?.length && (await holdWorkflows(deps, leased, { base, tree }))) return;
  const work = { ...captured, base };
  const proof = await prover.prove(leased, work, (repaired) => amend(deps, leased, work, repaired, 'verify'));
  if (proof.kind === 'passed') {
    const { tree: proven, files } = proof.work;
    const touched = await touchesIn(deps, leased, files);
    await leased.must({ type: 'stage.finish', outcome: 'approved', tree: proven, ...touched });
    return;
  }
  await leased.must({
    type: 'stage.finish',
    outcome: 'failed',
    failure: 'validation',
    message: `Gates fail. (${proof.gates.join(', ')})`,
    feedback: proof.feedback,
  });
}
