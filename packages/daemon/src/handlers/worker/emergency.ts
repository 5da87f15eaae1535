import { type Delivery, deliveryRef, type EmergencyImpact, workerName } from '@tidemill/contract';
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
  const deliveries = (await onTheirWay(store)).map(({ project, delivery: { number, environment } }) => ({
    project: project.name,
    ref: deliveryRef(number),
    environment,
  }));
  return { busy: busy.sort((a, b) => a.number - b.number), workers, deliveries };
}

export async function emergencyStop(services: Services, order: Signed<'emergencyStop'>) {
  const [reports, deliveries] = await Promise.all([
    services.engines.emergencyStop(order),
    stopDeliveries(services.store, order),
  ]);
  return {
    workers: reports.flatMap(({ workers }) => workers),
    tasks: reports.flatMap(({ tasks }) => tasks).sort((a, b) => a - b),
    deliveries,
  };
}

/** One that rolls back is left alone: half a rollback is worse than either end. */
const STOPPED: Delivery['status'][] = ['requested', 'running', 'checking'];

async function onTheirWay(store: Services['store']) {
  const found = await Promise.all(
    (await store.projects()).map(async (project) => {
      const open = await store.records({ noun: 'delivery', projectId: project.id, isOpen: true });
      return open.filter(({ status }) => STOPPED.includes(status)).map((delivery) => ({ project, delivery }));
    }),
  );
  return found.flat().sort((a, b) => a.delivery.number - b.delivery.number);
}

/** As by `tidemill deliver stop`. One that has ended meanwhile needs no stop. */
async function stopDeliveries(store: Services['store'], { by }: Signed<'emergencyStop'>): Promise<string[]> {
  const stopped: string[] = [];
  for (const { delivery } of await onTheirWay(store)) {
    const { id: deliveryId, projectId, environment, number } = delivery;
    const reply = await store.execute({ type: 'delivery.stop', projectId, deliveryId, environment, by });
    if (reply.ok) stopped.push(`${deliveryRef(number)} to ${environment}`);
  }
  return stopped;
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
