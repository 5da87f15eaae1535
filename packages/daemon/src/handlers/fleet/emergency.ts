import { type EmergencyImpact, type Project, type RouteRequest, type Task, workerName } from '@tidemill/contract';
import { LEASE_CAP_MS } from '@tidemill/core';
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

/** In every project: where an engine of this process runs it has killed first; elsewhere there is only the record. */
export async function emergencyStop(services: Services, order: RouteRequest<'emergencyStop'>) {
  const killed = await services.emergencyStop(order);
  const reports = await Promise.all(
    (await services.store.projects()).map(
      async (project) => killed.get(project.id) ?? stopOnRecord(services, project, order),
    ),
  );
  return {
    workers: reports.flatMap(({ workers }) => workers),
    tasks: reports.flatMap(({ tasks }) => tasks).sort((a, b) => a - b),
  };
}

async function stopOnRecord(services: Services, project: Project, order: { by: string; reason: string }) {
  const { store } = services;
  const projectId = project.id;
  const workers = await store.workers(projectId);
  for (const { id: workerId } of workers)
    await store.execute({ type: 'worker.steer', projectId, workerId, desired: 'stopped', by: order.by });
  const left = await store.leased(projectId);
  await takeAll(services, project, left, order.by, 'emergency stop');
  const report = {
    workers: left.map(({ lease }) => workerName(lease!.workerId)),
    tasks: left.map(({ number }) => number),
  };
  if (workers.length > 0)
    await store.execute({ type: 'emergency.record', projectId, operation: 'emergency_stop', ...order, ...report });
  return report;
}

/** Leases nobody renews, or held for longer than anybody may. Work is kept, tasks go back to their stages. */
export async function recoverStuck(services: Services, input: RouteRequest<'recoverStuck'>) {
  const project = await projectOf(services, input.project);
  const now = services.clock.now();
  const stuck = (await services.store.leased(project.id)).filter(
    ({ lease }) => lease!.expiresAt <= now || now - lease!.claimedAt >= LEASE_CAP_MS,
  );
  await takeAll(services, project, stuck, input.by, 'it was stuck');
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

async function takeAll(services: Services, project: Project, tasks: Task[], by: string, why: string): Promise<void> {
  if (tasks.length === 0) return;
  await services.withWorkspace(project, async (workspace) => {
    for (const { id: taskId, number, branch } of tasks) {
      const about = { projectId: project.id, taskId };
      const ref = await workspace.snapshot({ number, branch }, why);
      if (ref) await services.store.execute({ type: 'snapshot.note', ...about, ref, why });
      await services.store.execute({ type: 'lease.take', projectId: project.id, subjectId: taskId, by, why });
    }
  });
}

async function audit(
  { store }: Services,
  project: Project,
  about: { operation: 'recover_stuck' | 'purge_queue'; by: string; workers: string[]; tasks: number[] },
): Promise<void> {
  unwrap(await store.execute({ type: 'emergency.record', projectId: project.id, reason: 'asked for', ...about }));
}
