import {
  AppError,
  type FailureClass,
  type Feedback,
  type RecordedTask,
  type Replay,
  type ReplayResult,
  type ReplayRun,
  type ReplayVariant,
  sumUsd,
  type Task,
  type Usage,
} from '@tidemill/contract';
import { isInfrastructure, judgedBy, maxValidationRetries } from '@tidemill/core';
import type { Agent, BorrowingRepository } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Setback } from '../dispatch/agent-backoff.ts';
import { AgentRun, type RunBrief } from '../stages/agent-run.ts';
import type { StageReport } from '../stages/agent-stage.ts';
import type { Baseline } from '../stages/baseline.ts';
import { EnvironmentError } from '../stages/environment.ts';
import { type LeasedJob, Unwound } from '../workers/leased-work.ts';
import { landedTests } from './landed-tests.ts';
import { proveReplay } from './prove-replay.ts';

const MODE = 'replay';
/** What its agent is asked to do, and by which prompt. */
const PLAYED = 'implement';
const LONGEST_WHY = 500;

/** What a run of a replay needs to know. */
interface Trial {
  run: ReplayRun;
  replay: Replay;
  variant: ReplayVariant;
  recorded: RecordedTask;
  task: Task;
}

/** Either a measurement, or a failure of the machine or the vendor, after which the job is retried. */
type End =
  | { result: Pick<ReplayResult, 'verdict' | 'tries' | 'isFirstTry' | 'gates' | 'why'> }
  | { setback: { failure: FailureClass; message: string; retryAt?: number } };

/**
 * Does a recorded task again with the builder's prompt, in a repository that ends at its base commit:
 *
 *   bench ──▶ agent ──▶ captured ──▶ gates ──┬─ pass ──▶ passed
 *               ▲                            └─ fail ──▶ told, at most three times ──▶ failed
 *               └──────────────────────────────────────────┘
 * No branch, no evidence, no question and no alert comes of it. The folder is removed.
 */
export async function runReplay(
  deps: EngineDeps,
  leased: LeasedJob,
  baseline: Baseline,
  onSetback: (setback: Setback) => void,
): Promise<StageReport> {
  const found = await trialOf(deps, leased);
  if ('why' in found) return giveUp(deps, leased, found.why);
  const startedAt = deps.clock.now();
  const agent = agentOf(deps, found.variant);
  const runId = deps.ids.next('run');
  const begun = await leased.execute({
    type: 'run.start',
    runId,
    mode: MODE,
    agent: agent.label,
    isFree: agent.isFree,
  });
  if (!begun.ok && begun.refusal.code === 'budget_exhausted') throw new Unwound('budget', begun.refusal.message);
  if (!begun.ok) throw new AppError('internal', `run.start was refused: ${begun.refusal.message}`);
  const brief = (feedback: Feedback[]) => briefOf(deps, found, feedback);
  const run = new AgentRun(deps, leased, { runId, mode: MODE, playedMode: PLAYED, agent, brief });
  try {
    const bench = await deps.workspace.borrowingRepository(leased.job.id, found.recorded.base);
    try {
      const end = await attempt(deps, leased, { trial: found, bench, run, baseline });
      if ('setback' in end) {
        const { failure, message, retryAt } = end.setback;
        const setback = { mode: MODE, failure, message, retryAt } as const;
        onSetback(setback);
        const failed = { outcome: 'failed', envelope: null, failure, message, retryAt } as const;
        await leased.must({ type: 'run.finish', runId, usage: run.usage, ...failed });
        return { mode: MODE, setback };
      }
      const spent = await spentBefore(deps, found.run.id, runId);
      await finish(deps, leased, runId, run.usage, {
        ...end.result,
        why: end.result.why.slice(0, LONGEST_WHY),
        runId,
        costUsd: run.usage.costUsd === null && spent === 0 ? null : sumUsd(run.usage.costUsd ?? 0, spent),
        tokens: run.usage.inputTokens + run.usage.outputTokens,
        durationMs: deps.clock.now() - startedAt,
      });
      return { mode: MODE, setback: null };
    } finally {
      await bench.remove();
    }
  } finally {
    await run.close();
  }
}

async function trialOf(deps: EngineDeps, { job }: LeasedJob): Promise<Trial | { why: string }> {
  const { store } = deps;
  const run = await store.record('replay_run', job.subjectId);
  const replay = run && (await store.record('replay', run.replayId));
  if (!replay) return { why: 'its replay is gone' };
  if (replay.status !== 'running') return { why: `the replay is ${replay.status}` };
  const variant = replay.variants[run.variant];
  const recorded = replay.tasks.find(({ taskId }) => taskId === run.taskId);
  const task = await store.task(run.taskId);
  if (!variant || !recorded || !task) return { why: 'its task or its variant is gone' };
  return { run, replay, variant, recorded, task };
}

/** The end of the job says that the run does not count. */
async function giveUp({ store }: EngineDeps, { job }: LeasedJob, why: string): Promise<StageReport> {
  const { id: jobId, subjectId, projectId } = job;
  await store.execute({ type: 'job.cancel', projectId, jobId, subjectId, why });
  return { mode: MODE, setback: null };
}

const agentOf = ({ agentFor }: EngineDeps, { agent }: ReplayVariant): Agent =>
  agent === null ? agentFor(PLAYED) : agentFor(PLAYED, agent);

interface Attempted {
  trial: Trial;
  bench: BorrowingRepository;
  run: AgentRun;
  baseline: Baseline;
}

async function attempt(deps: EngineDeps, leased: LeasedJob, { trial, bench, run, baseline }: Attempted): Promise<End> {
  const { recorded, replay } = trial;
  const unprepared = await prepare(deps, leased, bench);
  if (unprepared !== null) return { setback: { failure: 'workspace', message: unprepared } };
  let feedback: Feedback[] = [];
  let lastTree = '';
  let gates: string[] = [];
  for (let tries = 1; ; tries += 1) {
    const lost = (why: string): End => ({ result: { verdict: 'failed', tries, isFirstTry: false, gates, why } });
    const end = await run.once(bench.path, feedback);
    if (end.kind === 'failed') {
      const { failure, message, retryAt } = end;
      return isInfrastructure(failure)
        ? { setback: { failure, message, retryAt } }
        : lost(`${failure.replaceAll('_', ' ')}: ${message}`);
    }
    const { outcome, summary } = end.envelope;
    if (outcome !== 'pr_ready') return lost(`the agent ended with ${outcome.replaceAll('_', ' ')}: ${summary}`);
    const work = await bench.capture(`Replay of #${recorded.number}`);
    if (work.files.length === 0) return lost('the agent changed nothing');
    if (work.tree === lastTree) return lost('the agent handed in the same code again');
    lastTree = work.tree;
    const { commit } = replay.withLandedTests ? await landedTests(deps, recorded, work.commit) : work;
    try {
      const proof = await proveReplay(deps, leased, baseline, { commit, files: work.files, base: bench.base });
      if (proof.kind === 'passed')
        return { result: { verdict: 'passed', tries, isFirstTry: tries === 1, gates: [], why: '' } };
      if (proof.kind === 'void')
        return { result: { verdict: 'void', tries, isFirstTry: false, gates: [], why: proof.why } };
      gates = proof.gates;
      feedback = proof.feedback;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      return { setback: { failure: 'workspace', message: error.message } };
    }
    if (tries > maxValidationRetries(deps.project.rules))
      return lost(`gates still fail after ${tries} tries: ${gates.join(', ')}`);
  }
}

/** Returns why the folder cannot be used; null when it can. */
async function prepare(
  deps: EngineDeps,
  leased: LeasedJob,
  { path, base }: BorrowingRepository,
): Promise<string | null> {
  const worktree = { number: 0, branch: '', path, base, tip: base };
  const prepared = await deps.preparation?.worktree(worktree, leased);
  leased.sign();
  leased.check();
  return prepared?.kind === 'failed' ? prepared.text : null;
}

/** The measurement and the end of the run are one transaction: a crash cannot separate them. */
async function finish(
  { store }: EngineDeps,
  leased: LeasedJob,
  runId: string,
  usage: Usage,
  result: ReplayResult,
): Promise<void> {
  const summary = result.why || result.verdict;
  const envelope = { outcome: 'pr_ready', summary } as const;
  const reply = await store.executeAll([
    { type: 'replay.measure', ...leased.fence, replayRunId: leased.job.subjectId, result },
    leased.fenced({ type: 'run.finish', runId, usage, outcome: 'pr_ready', envelope }),
  ]);
  if (reply.ok) return;
  if (reply.refusal.code === 'stale_lease') throw new Unwound('lease lost');
  throw new AppError('internal', `a measurement was refused: ${reply.refusal.message}`);
}

/** What earlier runs of the same job cost: they were interrupted. */
async function spentBefore({ store }: EngineDeps, subjectId: string, runId: string): Promise<number> {
  const runs = await store.runs(subjectId);
  return runs.reduce((total, run) => (run.id === runId ? total : sumUsd(total, run.usage.costUsd ?? 0)), 0);
}

/** The task as it was when a builder got it for the first time. */
async function briefOf(deps: EngineDeps, trial: Trial, feedback: Feedback[]): Promise<RunBrief> {
  const { project, prompts, gates } = deps;
  const { variant } = trial;
  const task = asRecorded(trial.task, feedback);
  const briefing = await prompts.render({
    task,
    mode: PLAYED,
    target: project.rules.target,
    diff: { files: [], sections: [], isCut: false },
    deciding: [],
    gates: '',
    proofs: gates.checks,
    hilConfig: task.hilConfig ?? project.rules.hilConfig,
    coming: [],
    related: async () => [],
    lessons: variant.lessons.map((lesson) => ({ ...lesson, kind: 'gotcha' as const, confidence: 1, stage: null })),
    judgedBy: judgedBy(project.rules, task),
    ...(variant.prompt === null ? {} : { template: variant.prompt }),
  });
  const { id, number, title, body, files, criteria } = task;
  const acceptance = criteria.map((criterion) => ({ id: criterion.id, text: criterion.text }));
  return { briefing, attempt: 0, task: { id, number, title, body, acceptance, files, stage: PLAYED } };
}

/** Without anything that came of it: notes, reviews, verdicts. The plan stays, the same for each variant. */
const asRecorded = (task: Task, feedback: Feedback[]): Task => ({
  ...task,
  stage: PLAYED,
  criteria: task.criteria
    .filter(({ isDerived }) => !isDerived)
    .map((criterion) => ({ ...criterion, met: null, evidence: '' })),
  feedback,
  context: [],
  counters: { failures: {}, reviewCycles: 0, interruptions: 0, fingerprints: {} },
  head: null,
  landedCommit: null,
  forecast: [],
});
