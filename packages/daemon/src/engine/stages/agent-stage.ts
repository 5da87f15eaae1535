import { isBlocking, isBuilding, type MergeLoss, type Mode, type Stage } from '@tidemill/contract';
import {
  failureText,
  fingerprintOf,
  isResumable,
  maxValidationRetries,
  modeOf,
  SAME_FAILURE_LIMIT,
  taskGates,
} from '@tidemill/core';
import type { Worktree } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { AgentBackoff, Setback } from '../dispatch/agent-backoff.ts';
import { lessonsInUse } from '../learning/known-lessons.ts';
import { lessonsOfRun } from '../learning/run-lessons.ts';
import { type LeasedTask, Unwound } from '../workers/leased-work.ts';
import { AgentRun } from './agent-run.ts';
import { taskBrief } from './briefing.ts';
import { ForecastNotice } from './coming-conflicts.ts';
import {
  amend,
  beginMerge,
  type Conclusion,
  commitWork,
  failedEnd,
  proposalOf,
  revertStrayWrites,
  touchesIn,
} from './conclusion.ts';
import { EnvironmentError, PREPARE } from './environment.ts';
import { lossFeedback, MERGE_LOSS, openLosses } from './merge-loss.ts';
import { judgeWork } from './old-checks.ts';
import { type BuiltWork, failedBefore, type Proof, type Prover } from './prove.ts';
import { askInRun, withQuestion } from './run-questions.ts';
import type { UsualTimes } from './usual-times.ts';

/** Longer gates do not fit into the time of an agent that wants to stop. They run in the proof. */
const STOP_CHECK_MS = 10 * 60_000;

/** How the stage ended, for other tasks: the agent may be the cause of a failure, not the task. */
export interface StageReport {
  mode: Mode;
  setback: Setback | null;
}

/** A stage whose actor is an agent: one run, from its recorded start to its recorded end. */
export async function agentStage(
  deps: EngineDeps,
  leased: LeasedTask,
  stage: Extract<Stage, { actor: 'agent' }>,
  agents: Pick<AgentBackoff, 'hold' | 'heldMs'>,
  { prover, usual }: { prover: Prover; usual: UsualTimes },
): Promise<StageReport | null> {
  const mode = modeOf(stage, leased.task);
  // Read while the worktree is opened, so that the agent does not start later. A failure shows where they are needed.
  const reading = lessonsInUse(deps);
  reading.catch(() => undefined);
  const worktree = await openPrepared(deps, leased, prover);
  if (mode === 'review') await tellOldChecks(deps, leased, prover, worktree);
  // Another run may have met the vendor's limit since the claim.
  const heldMs = agents.heldMs(mode);
  if (heldMs > 0) {
    await leased.must({ type: 'stage.wait', why: 'its agent is in backoff', untilMs: heldMs, isPassing: true });
    return null;
  }
  const runId = deps.ids.next('run');
  const { label: agent, isFree } = deps.agentFor(mode);
  const session = await sessionToResume(deps, leased, mode, agent);
  const usualMs = (await usual.of(mode)) ?? undefined;
  const begun = await leased.execute({ type: 'run.start', runId, mode, agent, isFree, usualMs });
  if (!begun.ok && begun.refusal.code === 'budget_exhausted') throw new Unwound('budget', begun.refusal.message);
  if (!begun.ok) throw new Error(`run.start was refused: ${begun.refusal.message}`);
  const builds = isBuilding(mode);
  const notice = new ForecastNotice(deps, leased.task);
  const lessons = once(() => lessonsOfRun(deps, leased.task, runId, mode, reading));
  const run: AgentRun = new AgentRun(deps, leased, {
    runId,
    mode,
    session,
    brief: async (feedback) => taskBrief(deps, leased.task, mode, feedback, await lessons(), runId),
    beforeStop: builds ? () => unfinished(deps, leased, run.hasAsked, notice) : undefined,
    ask: (questions) => askInRun(deps, leased, { runId, mode }, questions),
  });
  try {
    const conclusion = builds
      ? await build(deps, leased, run, runId, mode, worktree, prover)
      : await consult(deps, leased, run, mode, worktree);
    const envelope = withQuestion(deps, leased, mode, conclusion.envelope);
    const { failure, message = '', retryAt } = conclusion;
    const setback = failure ? { mode, failure, message, retryAt } : null;
    if (setback) agents.hold(setback);
    const { usage, shownFiles } = run;
    await leased.must({ type: 'run.finish', runId, usage, shownFiles, ...conclusion, envelope });
    return { mode, setback };
  } finally {
    await run.close();
  }
}

/** A pipeline may have its review before it verifies, or an earlier version recorded nothing. */
async function tellOldChecks(deps: EngineDeps, leased: LeasedTask, prover: Prover, { base }: Worktree): Promise<void> {
  const { head, id } = leased.task;
  if (!head) return;
  await judgeWork(deps, leased, prover, { base, tree: head.tree });
  leased.task = (await deps.store.task(id)) ?? leased.task;
}

/** All attempts within a run are told the same. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

/** A run that was interrupted by something other than the work itself is resumed in its session. */
async function sessionToResume(
  deps: EngineDeps,
  leased: LeasedTask,
  mode: Mode,
  agent: string,
): Promise<string | null> {
  const { lastRunId } = leased.task;
  const last = lastRunId ? await deps.store.run(lastRunId) : null;
  if (!last || last.mode !== mode || last.agent !== agent) return null;
  const isCutShort = last.outcome === 'interrupted' || (last.failure !== null && isResumable(last.failure));
  return isCutShort ? last.session : null;
}

/** The agent writes, the engine commits and runs the gates. Errors go back to the agent, as often as `maxValidationRetries` says. */
async function build(
  deps: EngineDeps,
  leased: LeasedTask,
  run: AgentRun,
  runId: string,
  mode: Mode,
  worktree: Worktree,
  prover: Prover,
): Promise<Conclusion> {
  const seen = new Map<string, number>();
  let same = 0;
  const given = [...leased.task.feedback, ...(await beginMerge(deps, leased))];
  let feedback = given;
  const told = new ToldLosses();
  const maxRetries = maxValidationRetries(deps.project.rules);
  for (let retry = 0; ; retry += 1) {
    const end = await run.once(worktree.path, feedback);
    const captured = await commitWork(deps, leased, mode);
    if (end.kind === 'failed') return failedEnd(end);
    const { envelope } = end;
    const proposed = proposalOf(envelope, captured.files);
    if (proposed.outcome !== 'pr_ready') return proposed;
    const handedIn = async (tree: string, files: string[]): Promise<Conclusion> => ({
      ...proposed,
      tree,
      ...(await touchesIn(deps, leased, files)),
    });
    const losses = await openLosses(deps, leased);
    if (losses.length > 0 && told.mayTell(losses) && retry < maxRetries) {
      await leased.must({ type: 'run.send_back', runId, gates: [MERGE_LOSS] });
      feedback = [...given.filter(({ kind }) => kind !== 'gate'), lossFeedback(deps, losses)];
      continue;
    }
    const unchanged = await sameAsBefore(deps, leased, captured.tree);
    if (unchanged.length > 0) {
      same += 1;
      if (same > 1) {
        const gates = `${unchanged.length === 1 ? 'gate' : 'gates'} ${unchanged.join(', ')}`;
        const message = `The agent submitted the same code again, although ${gates} had failed on it.`;
        return { outcome: 'failed', envelope, failure: 'no_progress', message };
      }
      await leased.must({ type: 'run.send_back', runId, gates: unchanged });
      feedback = [...feedback, { kind: 'agent', text: sameCodeFeedback(unchanged), files: [] }];
      continue;
    }
    const proof = await proveWork(deps, leased, prover, { ...captured, base: worktree.base }, mode);
    // The machine or the target is the cause. The verify stage waits for it, and this agent has nothing to fix.
    if (proof === null) return handedIn(captured.tree, captured.files);
    if (proof.kind === 'passed') return handedIn(proof.work.tree, proof.work.files);
    const fingerprint = fingerprintOf('validation', failureText('', proof.feedback), deps.hash);
    const times = (seen.get(fingerprint) ?? 0) + 1;
    seen.set(fingerprint, times);
    if (retry >= maxRetries || times >= SAME_FAILURE_LIMIT) {
      const how = times >= SAME_FAILURE_LIMIT ? `in the same way for the ${times}rd time` : `after ${retry} fixes`;
      const message = `Gates still fail ${how}: ${proof.gates.join(', ')}.`;
      return { outcome: 'failed', envelope, failure: 'validation', message, feedback: proof.feedback };
    }
    await leased.must({ type: 'run.send_back', runId, gates: proof.gates });
    feedback = [
      ...given.filter(({ kind }) => kind !== 'gate'),
      ...proof.feedback,
      ...captured.refused.map((text) => ({ kind: 'agent' as const, text: `Not included: ${text}.`, files: [] })),
    ];
  }
}

/** An agent that hands in the same losses twice has been told. From then on a person decides. */
class ToldLosses {
  readonly #times = new Map<string, number>();

  mayTell(losses: MergeLoss[]): boolean {
    const key = losses.map(({ content }) => content).join(' ');
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    return times <= 2;
  }
}

const sameCodeFeedback = (gates: string[]) =>
  `You submitted exactly the code on which ${gates.join(', ')} had failed. It was not checked again. Fix what the gate reports, or say in your result why that is impossible.`;

/** Gates that failed on exactly this code since the last intervention of a person. */
async function sameAsBefore(deps: EngineDeps, leased: LeasedTask, tree: string): Promise<string[]> {
  const { failures, fingerprints } = ((await deps.store.task(leased.task.id)) ?? leased.task).counters;
  const wasSentBack = leased.sentBack.has(tree) || Object.keys({ ...failures, ...fingerprints }).length > 0;
  return wasSentBack ? failedBefore(deps, tree, taskGates(leased.task)) : [];
}

/** Returns null when the environment is the cause. */
async function proveWork(
  deps: EngineDeps,
  leased: LeasedTask,
  prover: Prover,
  work: BuiltWork,
  mode: Mode,
): Promise<Proof | null> {
  try {
    const proof = await prover.prove(leased, work, (tree) => amend(deps, leased, work, tree, mode));
    if (proof.kind === 'failed') leased.sentBack.add(proof.work.tree);
    return proof;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    await prover.environment.report(error);
    return null;
  }
}

/** Opens the worktree and runs the prepare steps in it. No run has started, so a failure costs nothing. */
async function openPrepared(deps: EngineDeps, leased: LeasedTask, prover: Prover): Promise<Worktree> {
  const worktree = await deps.workspace.open(leased.ref);
  prover.environment.check(PREPARE);
  const prepared = await deps.preparation?.worktree(worktree, leased);
  leased.sign();
  leased.check();
  // If the task's own change broke the steps, its agent must fix them.
  if (prepared?.kind === 'failed' && prepared.isEnvironment) throw new EnvironmentError(PREPARE, prepared.text);
  if (prepared?.kind === 'ready') await prover.environment.clear(PREPARE);
  prover.baseline.lookSoon();
  return worktree;
}

/** Planning, investigating, reviewing: the agent only reads. Files that it wrote are snapshotted and reverted. */
async function consult(
  deps: EngineDeps,
  leased: LeasedTask,
  run: AgentRun,
  mode: Mode,
  worktree: Worktree,
): Promise<Conclusion> {
  const end = await run.once(worktree.path, leased.task.feedback);
  await revertStrayWrites(deps, leased, mode);
  return end.kind === 'failed' ? failedEnd(end) : proposalOf(end.envelope);
}

/**
 * Returns what a builder that wants to stop must still do. Runs the gates that decide later, except long ones, so that
 * the agent gets failures while it still has its context, and hears of coming conflicts. Nothing is recorded, and no
 * decision depends on it.
 */
async function unfinished(
  deps: EngineDeps,
  leased: LeasedTask,
  hasAsked: boolean,
  notice: ForecastNotice,
): Promise<string | null> {
  const { path } = await deps.workspace.open(leased.ref);
  const message = `#${leased.task.number} ${leased.task.title} (so far)`;
  const { commit, tree, files, refused } = await deps.workspace.capture(leased.ref, message);
  const left = refused.map((text) => `Not included: ${text}.`);
  // It waits for an answer before it changes anything.
  if (files.length === 0 && hasAsked) return null;
  if (files.length === 0) return ['You have not changed any file yet.', ...left].join('\n');
  const { signal, control, watch } = leased;
  const [reports, coming] = await Promise.all([
    deps.gates.run({ path, tree, files, signal, control, watch, own: taskGates(leased.task), maxMs: STOP_CHECK_MS }),
    notice.about(commit),
  ]);
  const failed = reports.filter(({ receipt }) => receipt.status === 'fail' && isBlocking(receipt));
  const complaints = failed.map(({ receipt, excerpt }) => `Gate ${receipt.gate} fails:\n${excerpt}`);
  const losses = await openLosses(deps, leased);
  if (losses.length > 0) complaints.unshift(lossFeedback(deps, losses).text);
  // Files that were left out matter only when a gate fails.
  if (complaints.length > 0) return [...complaints, ...left, ...(coming ? [coming] : [])].join('\n\n');
  return coming;
}
