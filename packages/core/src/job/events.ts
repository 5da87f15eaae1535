import type { Job } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const jobEvents = {
  'job.requested': (slice, { jobId: id, subjectId, mode, input, handOff = null }, { projectId, at }) =>
    slice.records.put({
      noun: 'job',
      id,
      projectId,
      subjectId,
      mode,
      input,
      handOff,
      status: 'open',
      lease: null,
      fence: 0,
      notBefore: at,
      attempts: 0,
      lastRunId: null,
      failures: {},
      summary: '',
      createdAt: at,
      endedAt: null,
    }),
  'job.postponed': (slice, { jobId, failure, count, notBefore, why }) =>
    changeJob(slice, jobId, ({ failures }) => ({
      failures: { ...failures, [failure]: count },
      notBefore,
      summary: why,
    })),
  'job.ended': (slice, { jobId, status, summary }, { at }) =>
    changeJob(slice, jobId, () => ({ status, summary, endedAt: at })),
  'lease.claimed': (slice, { jobId, workerId, owner, token, expiresAt }, { at }) =>
    changeJob(slice, jobId, () => ({ lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token })),
  'lease.renewed': (slice, { jobId, expiresAt, frozenMs = 0 }) =>
    changeJob(slice, jobId, ({ lease }) =>
      lease ? { lease: { ...lease, claimedAt: lease.claimedAt + frozenMs, expiresAt } } : {},
    ),
  'lease.released': (slice, { jobId }) => changeJob(slice, jobId, () => ({ lease: null })),
  'run.started': (slice, { jobId, runId, attempt }) =>
    changeJob(slice, jobId, () => ({ lastRunId: runId, attempts: attempt })),
} satisfies Reductions;

/** Events about a task's work name no job. */
function changeJob(slice: Slice, jobId: string | undefined, change: (job: Job) => Partial<Job>): void {
  const job = jobId === undefined ? undefined : slice.record('job', jobId);
  if (job) slice.records.put({ ...job, ...change(job) });
}
