import type { Task } from '@tidemill/contract';
import type { Candidate } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { amend, touchesIn } from './conclusion.ts';
import { holdForPerson } from './deciding.ts';
import { EnvironmentError } from './environment.ts';
import { type BuiltWork, type Proof, type Prover, proofHash } from './prove.ts';

/** Pause before a landing that waits for a person checks again. */
const LOOK_AGAIN_MS = 5_000;

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
  const work = { ...captured, base };
  const proof = await prover.prove(leased, work, (repaired) => amend(deps, leased, work, repaired, 'verify'));
  if (proof.kind === 'passed') {
    const { tree: proven, files } = proof.work;
    const touches = await touchesIn(deps, leased, files);
    await leased.must({ type: 'stage.finish', outcome: 'approved', tree: proven, touches });
  } else await sendBack(leased, proof, 'Gates fail.');
}

/**
 * Lands the head of the merge queue: merges the newest target, runs the gates on the merged tree, records the
 * candidate, fast-forwards. One merger per project does this, so that landings do not compete.
 */
export async function mergeStage(deps: EngineDeps, leased: LeasedTask, prover: Prover): Promise<void> {
  const { prepared } = leased.task;
  // A crash may have happened between moving the target and recording it. The same commit is landed again.
  if (prepared && (await land(deps, leased, prepared.commit, prepared.base))) return;
  for (;;) {
    leased.check();
    const [obstacle, candidate] = await Promise.all([
      deps.workspace.landingObstacle(),
      deps.workspace.candidate(leased.ref),
    ]);
    if (obstacle) return wait(leased, obstacle);
    if (candidate.kind === 'conflict') return conflict(deps, leased, candidate.files);
    if (candidate.kind === 'empty')
      return void (await leased.must({
        type: 'stage.finish',
        outcome: 'no_changes',
        message: 'the target already contains all changes',
      }));
    prover.baseline.lookSoon();
    const proof = await proveCandidate(deps, leased, candidate, prover);
    if (proof.kind !== 'passed')
      return sendBack(leased, proof, `With the newest ${deps.project.rules.target} merged, gates fail.`);
    const { tree, base } = proof.work;
    const message = await landingMessage(deps, leased.task, tree);
    const [isHeld, commit] = await Promise.all([
      holdForPerson(deps, leased, { tree, base }),
      deps.workspace.seal(leased.ref, { tree, base }, message),
    ]);
    if (isHeld) return;
    await leased.must({ type: 'merge.prepare', commit, tree, base });
    if (await land(deps, leased, commit, base)) return;
  }
}

/**
 * Returns true when the stage is over: landed, or waiting for a person. Returns false when the target moved and the
 * stage must start again.
 */
async function land(deps: EngineDeps, leased: LeasedTask, commit: string, base: string): Promise<boolean> {
  const landing = await deps.workspace.land(commit, base);
  const isThere = landing.kind === 'landed' || (await deps.workspace.isLanded(commit));
  if (isThere) {
    await leased.must({ type: 'merge.land', commit });
    await afterLanding(deps, leased);
    return true;
  }
  const why = landing.kind === 'waiting' ? landing.why : 'the target moved';
  await leased.must({ type: 'merge.abandon', why });
  if (landing.kind === 'waiting') await wait(leased, landing.why);
  return landing.kind === 'waiting';
}

/** The task is done. Failures from here on do not change that. */
async function afterLanding(deps: EngineDeps, leased: LeasedTask): Promise<void> {
  const { projectId, id: taskId } = leased.task;
  const [push] = await Promise.all([deps.workspace.push(), deps.workspace.remove(leased.ref)]);
  if (push.kind === 'failed') {
    const text = `#${leased.task.number} landed on ${deps.project.rules.target}, but the push failed: ${push.why}`;
    await deps.store.execute({ type: 'alert.raise', projectId, taskId, kind: 'push_failed', text });
  }
}

async function proveCandidate(
  deps: EngineDeps,
  leased: LeasedTask,
  candidate: Extract<Candidate, { kind: 'clean' }>,
  prover: Prover,
): Promise<Proof> {
  const { base, files } = candidate;
  const trial = async (tree: string): Promise<BuiltWork> => {
    const commit = await deps.workspace.seal(leased.ref, { tree, base }, `Candidate of #${leased.task.number}`);
    return { commit, tree, files, base };
  };
  const { head } = leased.task;
  const work = head?.tree === candidate.tree ? { ...head, files, base } : await trial(candidate.tree);
  return prover.prove(leased, work, trial);
}

async function sendBack(leased: LeasedTask, proof: Exclude<Proof, { kind: 'passed' }>, why: string): Promise<void> {
  await leased.must({
    type: 'stage.finish',
    outcome: 'failed',
    failure: 'validation',
    message: `${why} (${proof.gates.join(', ')})`,
    feedback: proof.feedback,
  });
}

async function conflict(deps: EngineDeps, leased: LeasedTask, files: string[]): Promise<void> {
  const text = `Your change conflicts with the newest ${deps.project.rules.target} in ${files.join(', ')}. The merge is under way in your worktree: resolve the markers, keep both sides' intent, drop nothing of ${deps.project.rules.target}.`;
  await leased.must({
    type: 'stage.finish',
    outcome: 'conflicts_detected',
    message: text,
    feedback: [{ kind: 'conflict', text, files }],
  });
}

async function wait(leased: LeasedTask, why: string): Promise<void> {
  await leased.must({ type: 'stage.wait', why, untilMs: LOOK_AGAIN_MS });
}

/** `tidemill evidence verify` starts from these trailers. */
async function landingMessage(deps: EngineDeps, task: Task, tree: string): Promise<string> {
  const summary =
    task.context.findLast((entry) => entry.source === 'agent' && entry.entryType !== 'plan_summary')?.summary ?? '';
  const trailers = `Task: #${task.number}\nEvidence: ${await proofHash(deps, tree)}`;
  return [task.title, summary.trim(), trailers].filter((part) => part !== '').join('\n\n');
}
