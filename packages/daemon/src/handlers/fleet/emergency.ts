import { type EmergencyImpact, type Project, type RouteRequest, workerName } from '@tidemill/contract';
import { LEASE_CAP_MS } from '@tidemill/core';
import { takeLeases } from '../../engine/workers/take-leases.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';

const PAGE = 1000;

/** What an emergency stop would hit, in all projects. */
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

export async function emergencyStop(services: Services, order: RouteRequest<'emergencyStop'>) {
  const reports = await services.engines.emergencyStop(order);
  return {
    workers: reports.flatMap(({ workers }) => workers),
    tasks: reports.flatMap(({ tasks }) => tasks).sort((a, b) => a - b),
  };
}

/** Leases nobody renews, or held for longer than anybody may. Work is kept, tasks go back to their stages. */
export async function recoverStuck(services: Services, input: RouteRequest<'recoverStuck'>) {
  const project = await projectOf(services, input.project);
  const now = services.clock.now();
  const stuck = (await services.store.leased(project.id)).filter(
    ({ lease }) => lease!.expiresAt <= now || now - lease!.claimedAt >= LEASE_CAP_MS,
  );
  if (stuck.length > 0)
    await services.repositories.withWorkspace(project, (workspace) =>
      takeLeases({ store: services.store, workspace }, stuck, input.by, 'it was stuck'),
    );
  const tasks = stuck.map(({ number }) => number);
  const workers = stuck.map(({ lease }) => workerName(lease!.workerId));
  await audit(services, project, { operation: 'recover_stuck', by: input.by, workers, tasks });
  return { tasks };
}

/** Cancels all that nobody has begun. */
export async function purgeQueue(services: Services, input: RouteRequest<'purgeQueue'>) {
  const project = await projectOf(services, input.project);
  const { store } = services;
  const tasks: number[] = [];
  for (let afterNumber = 0; ; ) {
    const page = await store.tasks({ projectId: project.id, stages: ['open'], afterNumber, limit: PAGE });
    for (const { id: taskId, number } of page) {
      const reply = await store.execute({ type: 'task.cancel', projectId: project.id, taskId, by: input.by });
      if (reply.ok) tasks.push(number);
    }
    if (page.length < PAGE) break;
    afterNumber = page.at(-1)!.number;
  }
  await audit(services, project, { operation: 'purge_queue', by: input.by, workers: [], tasks });
  return { tasks };
}

async function audit(
  { store }: Services,
  project: Project,
  about: { operation: 'recover_stuck' | 'purge_queue'; by: string; workers: string[]; tasks: number[] },
): Promise<void> {
  unwrap(await store.execute({ type: 'emergency.record', projectId: project.id, reason: 'asked for', ...about }));
}
