import { type EmergencyImpact, workerName } from '@tidemill/contract';
import { LEASE_CAP_MS } from '@tidemill/core';
import { purgeQueue as cancelOpen, recoverStuck as takeStuck } from '../../engine/flows/emergency.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import type { Signed } from '../handler.ts';

/** What an emergency stop would affect, in all projects. */
export async function emergencyImpact({ store }: Services): Promise<EmergencyImpact> {
  const busy: EmergencyImpact['busy'] = [];
  let workers = 0;
  for (const project of await store.projects()) {
    workers += (await store.workers(project.id)).length;
    for (const { number, title, lease } of await store.leased(project.id))
      busy.push({ project: project.name, worker: workerName(lease!.workerId), number, title });
  }
  return { busy: busy.sort((a, b) => a.number - b.number), workers };
}

export async function emergencyStop(services: Services, order: Signed<'emergencyStop'>) {
  const reports = await services.engines.emergencyStop(order);
  return {
    workers: reports.flatMap(({ workers }) => workers),
    tasks: reports.flatMap(({ tasks }) => tasks).sort((a, b) => a - b),
  };
}

/** Takes back leases that expired or are older than the limit. Work is kept, and the tasks stay in their stages. */
export async function recoverStuck(services: Services, input: Signed<'recoverStuck'>) {
  const project = await projectOf(services, input.project);
  const now = services.clock.now();
  const stuck = (await services.store.leased(project.id)).filter(
    ({ lease }) => lease!.expiresAt <= now || now - lease!.claimedAt >= LEASE_CAP_MS,
  );
  const { store, repositories } = services;
  await takeStuck(
    { store, withWorkspace: (work) => repositories.withWorkspace(project, work) },
    project,
    stuck,
    input.by,
  );
  return { tasks: stuck.map(({ number }) => number) };
}

/** Cancels all tasks that have not started. */
export async function purgeQueue(services: Services, input: Signed<'purgeQueue'>) {
  const project = await projectOf(services, input.project);
  return { tasks: await cancelOpen(services.store, project, input.by) };
}
