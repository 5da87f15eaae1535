import type { EventBody, Job, Project, Refusal, Task } from '@tidemill/contract';
import { finalUsage } from './budget/usage.ts';
import type { Fence } from './command.ts';
import { type Lookup, look } from './lookup.ts';
import type { Slice } from './slice.ts';

/** What a worker can lease: a task in its stage, or a job. */
export type Work = Task | Job;
export const isJob = (work: Work): work is Job => 'noun' in work;

/** The fields of an event about its lease or run. */
export const aboutWork = (work: Work): { subjectId: string; jobId?: string } =>
  isJob(work) ? { subjectId: work.subjectId, jobId: work.id } : { subjectId: work.id };

export const nameOf = (work: Pick<Task, 'number'> | Job): string =>
  'noun' in work ? `${work.mode} ${work.id}` : `task #${work.number}`;

export type FoundWork = { ok: true; work: Work; project: Project } | { ok: false; refusal: Refusal };
type About = { projectId: string } & Pick<Fence, 'subjectId' | 'jobId'>;

export function findWork(slice: Slice, { projectId, subjectId, jobId }: About): FoundWork {
  const project = slice.projects.get(projectId);
  const work = jobId === undefined ? slice.tasks.get(subjectId) : slice.record('job', jobId);
  if (project && work?.projectId === project.id) return { ok: true, work, project };
  const missing = jobId === undefined ? `task ${subjectId}` : `job ${jobId}`;
  const message = project ? `there is no ${missing}` : `there is no project ${projectId}`;
  return { ok: false, refusal: { code: 'not_found', message, hint: '' } };
}

/** A worker may write about its work only while its token is the newest: a late writer is refused. */
export function fencedWork(slice: Slice, command: About & { token: number }): FoundWork {
  const found = findWork(slice, command);
  if (!found.ok || found.work.lease?.token === command.token) return found;
  return { ok: false, refusal: staleLease(found.work) };
}

export function staleLease(work: Pick<Task, 'number' | 'lease'> | Job): Refusal {
  const { lease } = work;
  const message = lease ? `${nameOf(work)} is now leased by ${lease.workerId}` : `${nameOf(work)} is no longer leased`;
  return { code: 'stale_lease', message, hint: 'stop working on it; the work in its worktree is kept' };
}

/** The work and its run, if any; and the subject of a job. */
export const workAndRun = ({ subjectId, jobId }: Pick<Fence, 'subjectId' | 'jobId'>): Lookup[] =>
  jobId === undefined
    ? [look('task', subjectId), look('lastRunOf', subjectId)]
    : [look('record', jobId), look('runsOfJob', jobId), look('record', subjectId)];

/** A lease that is not renewed ends after this time. */
export const LEASE_MS = 120_000;

export function released(work: Work, why: string): EventBody {
  const { workerId, token } = work.lease!;
  return { type: 'lease.released', ...aboutWork(work), workerId, token, why };
}

/** A run that loses its lease ends as interrupted. It is not counted as a failure, and the work can be leased again. */
export function interruptRun(slice: Slice, work: Work, why: string, lostAt?: number): EventBody[] {
  const run = work.lastRunId ? slice.runs.ifLoaded(work.lastRunId) : undefined;
  if (run?.status !== 'running') return [];
  return [
    {
      type: 'run.finished',
      ...aboutWork(work),
      runId: run.id,
      outcome: 'interrupted',
      failure: null,
      message: why,
      envelope: null,
      usage: finalUsage(run, run.usage, null),
      ...(lostAt === undefined ? {} : { lostAt: Math.max(run.startedAt, lostAt) }),
    },
  ];
}
