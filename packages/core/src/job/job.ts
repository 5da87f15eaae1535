import type {
  AgentEnvelope,
  EventBody,
  FailureClass,
  Job,
  Outcome,
  Project,
  QuestionSource,
  Run,
} from '@tidemill/contract';
import { isBackground, MODES } from '@tidemill/contract';
import { estimateOf, type Shortage, shortageFor, sizeOfInput } from '../budget/budget.ts';
import { budgetAccountsOf } from '../budget/period.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { isTimedOut, jobHandOff } from '../hand-off/job.ts';
import { backoffMs, needsPerson, RETRY_POLICY, VENDOR_WAIT_MS } from '../pipeline/policy.ts';
import { askAll } from '../question/ask.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { JobEnd } from '../subject/part.ts';
import { afterJob, refusedQuestions } from '../subject-parts.ts';
import { aboutWork, interruptRun, LEASE_MS, nameOf, released } from '../work.ts';

/**
 *   open ──claim──▶ leased ──run completed──▶ done
 *     ▲                │ └──failed for good, cancelled──▶ failed, cancelled
 *     └──failed, to be retried; interrupted──┘
 */
export function requestJob(slice: Slice, command: CommandOf<'job.request'>, env: DecideEnv): Decision {
  const { projectId, subjectId, jobId, mode, input, by } = command;
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('job', jobId)) return refuse('conflict', `job ${jobId} already exists`);
  if (MODES[mode].subject === 'project' && subjectId !== projectId)
    return refuse('bad_input', `${mode} is about a project, not about ${subjectId}`);
  const job = { subjectId, jobId, mode, input, by };
  return accept({ type: 'job.requested', ...job, handOff: jobHandOff(job, env.now) });
}

export function claimJob(slice: Slice, command: CommandOf<'job.claim'>, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId);
  const worker = slice.workers.get(command.workerId);
  if (!project || worker?.projectId !== project.id)
    return refuse('not_found', `there is no worker ${command.workerId}`);
  if (worker.desired !== 'running')
    return refuse('worker_paused', `${worker.name} is ${worker.desired}`, 'resume it first');
  const [busy] = slice.list('leasedBy', worker.id);
  if (busy) return refuse('worker_busy', `${worker.name} already works on #${busy.number}`);
  const jobs = slice.list('openRecords', project.id, 'job').flatMap((record) => slice.record('job', record.id) ?? []);
  const own = jobs.find(({ lease }) => lease?.workerId === worker.id);
  if (own) return refuse('worker_busy', `${worker.name} already works on ${nameOf(own)}`);
  const budgets = budgetAccountsOf(slice, project, env.now);
  let shortage: Shortage | null = null;
  const isOpen = (job: Job) =>
    isBackground(job.mode) === (command.isBackground ?? false) &&
    job.lease === null &&
    job.notBefore <= env.now &&
    MODES[job.mode].role === worker.role &&
    !isTimedOut(job, env.now);
  // A job that was requested in the same transaction comes last in the list.
  const due = jobs.filter(isOpen).sort((a, b) => a.notBefore - b.notBefore || (a.id < b.id ? -1 : 1));
  for (const job of due) {
    if (command.restingModes?.includes(job.mode)) continue;
    const reserved = estimateOf(budgets, command.agents?.[job.mode] ?? '', job.mode, sizeOfInput(job.input));
    const missing = shortageFor(budgets, reserved, env.now, slice.calendars);
    shortage ??= missing;
    if (missing) continue;
    const lease = { workerId: worker.id, owner: command.owner, token: job.fence + 1, expiresAt: env.now + LEASE_MS };
    return accept({ type: 'lease.claimed', ...aboutWork(job), ...lease });
  }
  return shortage ? refuse('budget_exhausted', shortage.text) : refuse('nothing_ready', 'no job can be claimed now');
}

export function cancelJob(slice: Slice, command: CommandOf<'job.cancel'>, env: DecideEnv): Decision {
  const job = slice.record('job', command.jobId);
  if (job?.projectId !== command.projectId) return refuse('not_found', `there is no job ${command.jobId}`);
  if (job.status !== 'open') return refuse('conflict', `job ${job.id} is already ${job.status}`);
  // Its worker finds its lease gone, stops the agent and reports what it cost.
  const stopped = job.lease ? [...interruptRun(slice, job, command.why), released(job, command.why)] : [];
  return accept(
    ...stopped,
    ...jobEnd(slice, job, { status: command.isFailed ? 'failed' : 'cancelled', why: command.why }, env),
  );
}

export interface JobRunEnd {
  outcome: Outcome;
  failure?: FailureClass;
  message?: string;
  envelope: AgentEnvelope | null;
  retryAt?: number;
}

interface AboutRun {
  slice: Slice;
  project: Project;
  job: Job;
  run: Run;
}

/** What happens to a job after its run: done, retried, or failed. */
export function endJobRun(about: AboutRun, end: JobRunEnd, env: DecideEnv): EventBody[] {
  const { slice, job } = about;
  const { envelope } = end;
  const successes: readonly string[] = MODES[job.mode].outcomes;
  if (envelope && successes.includes(end.outcome)) {
    const ended = jobEnd(slice, job, { status: 'done', envelope }, env);
    return [...ended, ...asked(about, envelope, false, env).events];
  }
  const refused = end.outcome === 'needs_info' ? refusedQuestions(slice, job) : null;
  if (envelope && end.outcome === 'needs_info' && refused === null) return endWithQuestions(about, envelope, env);
  const failure = refused === null ? (end.failure ?? 'unknown') : 'invalid_result';
  const why = refused ?? (end.message || envelope?.summary || failure);
  const count = (job.failures[failure] ?? 0) + 1;
  if (count > RETRY_POLICY[failure].retries) return jobEnd(slice, job, { status: 'failed', why }, env);
  const waitMs = needsPerson(failure) ? VENDOR_WAIT_MS : backoffMs(failure, count);
  const notBefore = Math.max(env.now + waitMs, end.retryAt ?? 0);
  return [{ type: 'job.postponed', ...jobOf(job), failure, count, notBefore, why }];
}

/** The job ends, and its subject waits for the answers. Then the subject requests another job. */
function endWithQuestions(about: AboutRun, envelope: AgentEnvelope, env: DecideEnv): EventBody[] {
  const { slice, job, project } = about;
  const questions = envelope.open_questions?.map(({ text }) => text).join('\n') ?? '';
  // Nobody would continue a job about the project itself after an answer.
  if (job.subjectId === project.id)
    return jobEnd(slice, job, { status: 'failed', why: `${ASKED_INSTEAD}: ${questions}` }, env);
  const result = asked(about, envelope, true, env);
  if (result.holding.length > 0) return [...result.events, ...jobEnd(slice, job, { status: 'asked', envelope }, env)];
  const why = `The agent repeats questions that were already answered: ${questions}`;
  return [...result.events, ...jobEnd(slice, job, { status: 'failed', why }, env)];
}

const ASKED_INSTEAD = 'The agent asked questions instead of finishing';

function asked({ slice, project, job, run }: AboutRun, envelope: AgentEnvelope, holdsAlways: boolean, env: DecideEnv) {
  const asker = { agent: run.agent, source: SOURCES[job.mode] ?? 'execute', sourceId: job.subjectId } as const;
  const subjectId = job.subjectId === project.id ? null : job.subjectId;
  const asking = { ...asker, project, task: null, subjectId, runId: run.id, stage: job.mode, holdsAlways };
  const questions = envelope.open_questions ?? [];
  // What holds the subject waits for a person: a time or a default of the agent's own would let it answer itself.
  const held = questions.map((each) => ({ ...each, type: 'blocking' as const, expiresAfter: undefined }));
  return askAll(slice, asking, holdsAlways ? held : questions, env);
}

const SOURCES: Partial<Record<Job['mode'], QuestionSource>> = {
  analyse: 'eval',
  ideate: 'prd',
  specify: 'plan',
  initialize: 'plan',
};

export function jobEnd(slice: Slice, job: Job, end: JobEnd, env: DecideEnv): EventBody[] {
  const status = end.status === 'asked' ? 'done' : end.status;
  const summary = 'why' in end ? end.why : end.envelope.summary;
  const ended: EventBody = { type: 'job.ended', ...jobOf(job), status, summary: summary.slice(0, 2_000) };
  return [ended, ...afterJob(slice, job, end, env)];
}

const jobOf = (job: Job) => ({ subjectId: job.subjectId, jobId: job.id });
