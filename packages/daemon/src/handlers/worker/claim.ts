import { AppError, type ClaimView, type OutsideClaim, type RouteRequest, workerName } from '@tidemill/contract';
import { isOutsideOwner, LEASE_CAP_MS, outsideRefusal } from '@tidemill/core';
import type { Call, Services } from '../context.ts';
import { projectOf, summary, taskOf, unwrap } from '../find.ts';

/** The current claims. */
export async function listClaims(services: Services, input: RouteRequest<'claims'>): Promise<ClaimView[]> {
  const project = await projectOf(services, input.project);
  const leased = await services.store.leased(project.id);
  return leased
    .sort((a, b) => a.number - b.number)
    .map(({ number, title, stage, lease }) => ({
      number,
      title,
      stage,
      worker: workerName(lease!.workerId),
      isOutside: isOutsideOwner(lease!.owner),
      claimedAt: lease!.claimedAt,
      expiresAt: lease!.expiresAt,
    }));
}

export async function claimWork(
  services: Services,
  input: RouteRequest<'claimWork'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<OutsideClaim | null> {
  const project = await projectOf(services, input.project);
  return services.engines.of(project).outside.claim(input.worker, caller);
}

/** Needs no engine: a worker survives a restart of the daemon, and its first heartbeat after that must count. */
export async function beatClaim(
  services: Services,
  input: RouteRequest<'beatClaim'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<{ expiresAt: number }> {
  const { store } = services;
  const project = await projectOf(services, input.project);
  const { percent, text, fence } = input;
  const task = await taskOf(services, project, input.task);
  const refusal = outsideRefusal(task, fence, caller);
  if (refusal) unwrap({ ok: false, refusal });
  const about = { projectId: project.id, subjectId: task.id, token: fence };
  const lease = unwrap(await store.execute({ type: 'lease.renew', ...about })).task?.lease;
  if (!lease)
    throw new AppError('stale_lease', `#${task.number} was held for the maximum of ${LEASE_CAP_MS / 3_600_000} hours`, {
      hint: 'Stop working on it. The work in its worktree is kept.',
    });
  const beat = { memoryMb: 0, cpuPercent: 0 };
  unwrap(await store.execute({ type: 'worker.beat', projectId: project.id, workerId: lease.workerId, beat }));
  const run = task.lastRunId ? await store.run(task.lastRunId) : null;
  if (run?.status === 'running' && (percent !== undefined || text !== undefined)) {
    const told = { percent: percent ?? run.progress?.percent ?? null, text: text ?? run.progress?.text ?? '' };
    unwrap(await store.execute({ type: 'run.progress', ...about, runId: run.id, ...told }));
  }
  return { expiresAt: lease.expiresAt };
}

export async function releaseClaim(
  services: Services,
  input: RouteRequest<'releaseClaim'>,
  _signal: AbortSignal,
  { caller }: Call,
) {
  const { fence, why } = input;
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const after = await services.engines.of(project).outside.release(task, { fence, caller }, why);
  return summary(services.store, after);
}

export async function finishClaim(
  services: Services,
  input: RouteRequest<'finishClaim'>,
  _signal: AbortSignal,
  { caller }: Call,
) {
  const { fence, result, usage } = input;
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const after = await services.engines.of(project).outside.finish(task, { fence, caller }, result, usage);
  return summary(services.store, after);
}
