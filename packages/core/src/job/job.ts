import type { AgentEnvelope, EventBody, FailureClass, Job, Outcome } from '@tidemill/contract';
import { MODES } from '@tidemill/contract';
import { estimateOf, type Shortage, shortageFor, sizeOfInput } from '../budget/budget.ts';
import { budgetAccountsOf } from '../budget/period.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { backoffMs, needsPerson, RETRY_POLICY, VENDOR_WAIT_MS } from '../pipeline/policy.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { aboutWork, interruptRun, LEASE_MS, nameOf, released } from '../work.ts';

/**
 *   open ──claim──▶ leased ──run completed──▶ done
 *     ▲                │ └──failed for good, cancelled──▶ failed, cancelled
 *     └──failed, to be retried; interrupted──┘
 */
export function requestJob(slice: Slice, command: CommandOf<'job.request'>): Decision {
  const { projectId, subjectId, jobId, mode, input, by } = command;
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('job', jobId)) return refuse('conflict', `job ${jobId} already exists`);
  if (MODES[mode].subject === 'project' && subjectId !== projectId)
    return refuse('bad_input', `${mode} is about a project, not about ${subjectId}`);
  return accept({ type: 'job.requested', subjectId, jobId, mode, input, by });
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
  const isOpen = (job: Job) => job.lease === null && job.notBefore <= env.now && MODES[job.mode].role === worker.role;
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

export function cancelJob(slice: Slice, command: CommandOf<'job.cancel'>): Decision {
  const job = slice.record('job', command.jobId);
  if (job?.projectId !== command.projectId) return refuse('not_found', `there is no job ${command.jobId}`);
  if (job.status !== 'open') return refuse('conflict', `job ${job.id} is already ${job.status}`);
  // Its worker finds its lease gone, stops the agent and reports what it cost.
  const stopped = job.lease ? [...interruptRun(slice, job, command.why), released(job, command.why)] : [];
  return accept(...stopped, ...jobEnd(job, 'cancelled', command.why));
}

export interface JobRunEnd {
  outcome: Outcome;
  failure?: FailureClass;
  message?: string;
  envelope: AgentEnvelope | null;
  retryAt?: number;
}

/** What happens to a job after its run: done, retried, or failed. */
export function endJobRun(job: Job, end: JobRunEnd, env: DecideEnv): EventBody[] {
  const successes: readonly string[] = MODES[job.mode].outcomes;
  if (successes.includes(end.outcome)) return jobEnd(job, 'done', end.envelope?.summary ?? '');
  if (end.outcome === 'needs_info') {
    const questions = end.envelope?.open_questions?.map(({ text }) => text).join('\n') ?? '';
    return jobEnd(job, 'failed', `The agent asked questions instead of finishing: ${questions}`);
  }
  const failure = end.failure ?? 'unknown';
  const why = end.message || end.envelope?.summary || failure;
  const count = (job.failures[failure] ?? 0) + 1;
  if (count > RETRY_POLICY[failure].retries) return jobEnd(job, 'failed', why);
  const waitMs = needsPerson(failure) ? VENDOR_WAIT_MS : backoffMs(failure, count);
  const notBefore = Math.max(env.now + waitMs, end.retryAt ?? 0);
  return [{ type: 'job.postponed', ...jobOf(job), failure, count, notBefore, why }];
}

export function jobEnd(job: Job, status: 'done' | 'failed' | 'cancelled', summary: string): EventBody[] {
  return [{ type: 'job.ended', ...jobOf(job), status, summary: summary.slice(0, 2_000) }];
}

const jobOf = (job: Job) => ({ subjectId: job.subjectId, jobId: job.id });
