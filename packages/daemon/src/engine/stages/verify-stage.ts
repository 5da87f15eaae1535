import type { Feedback } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import { conflictText } from '../merge/send-back.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { amend, touchesIn } from './conclusion.ts';
import { EnvironmentError } from './environment.ts';
import { vetoLosses } from './merge-loss.ts';
import { judgeWork } from './old-checks.ts';
import type { Prover } from './prove.ts';
import { holdWorkflows } from './workflow-files.ts';

/** The verify stage: runs the gates on the branch's commit when there is no evidence yet. */
export async function verifyStage(deps: EngineDeps, leased: LeasedTask, prover: Prover): Promise<void> {
  try {
    await verify(deps, leased, prover);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    // The target it is based on failed its gates and may be fixed now.
    const newest = await takeInTarget(deps, leased);
    if (newest === 'merged') return verify(deps, leased, prover);
    if (newest === 'same' || !(await passes(deps, newest.target, prover))) throw error;
    await sendBack(leased, conflictText(deps, newest.files), newest.files);
  }
}

/** Merges the newest target into the branch, unless they conflict. */
async function takeInTarget(
  { workspace }: EngineDeps,
  { ref }: LeasedTask,
): Promise<'merged' | 'same' | { target: string; files: string[] }> {
  const [{ base }, target] = await Promise.all([workspace.open(ref), workspace.targetCommit()]);
  if (base === target) return 'same';
  const candidate = await workspace.candidate(ref);
  if (candidate.kind === 'empty') return 'same';
  if (candidate.kind === 'conflict') return { target: candidate.base, files: candidate.files };
  const { files } = await workspace.mergeTarget(ref);
  return files.length === 0 ? 'merged' : { target: candidate.base, files };
}

async function passes({ gates }: EngineDeps, commit: string, { baseline }: Prover): Promise<boolean> {
  return (await baseline.redAmong(commit, gates.names)).size === 0;
}

/** Only the agent can bring the work onto a target that passes. */
async function sendBack(leased: LeasedTask, text: string, files: string[]): Promise<void> {
  const feedback: Feedback[] = [{ kind: 'conflict', text, files }];
  await leased.must({ type: 'stage.finish', outcome: 'failed', failure: 'validation', message: text, feedback });
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
    // Before a review, so that the reviewer is told.
    await judgeWork(deps, leased, prover, { base, tree: proven });
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
