import {
  AppError,
  type DesiredState,
  type Project,
  type RouteRequest,
  type Worker,
  type WorkerOperation,
  type WorkerView,
  workerLabel,
} from '@tidemill/contract';
import { workerHealth, workerStatus } from '@tidemill/core';
import { executeTogether } from '../../engine/flows/atomic.ts';
import { restartWorker } from '../../engine/flows/restart.ts';
import type { Services } from '../context.ts';
import { projectOf, summary, taskOf } from '../find.ts';
import type { Signed } from '../handler.ts';

const DESIRED: Record<Exclude<WorkerOperation, 'restart' | 'reset'>, DesiredState> = {
  start: 'running',
  resume: 'running',
  pause: 'paused',
  freeze: 'frozen',
  stop: 'stopped',
};

export async function listWorkers(services: Services, input: RouteRequest<'workers'>): Promise<WorkerView[]> {
  return workerViews(services, await projectOf(services, input.project));
}

export async function workerViews(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  project: Project,
): Promise<WorkerView[]> {
  const leased = new Map((await store.leased(project.id)).map((task) => [task.lease!.workerId, task]));
  const jobs = await store.records({ noun: 'job', projectId: project.id, isOpen: true });
  const workers = (await store.workers(project.id)).sort((a, b) =>
    a.name.localeCompare(b.name, 'en', { numeric: true }),
  );
  const now = clock.now();
  return Promise.all(
    workers.map(async (worker) => {
      const task = leased.get(worker.id) ?? null;
      const job = jobs.find(({ lease }) => lease?.workerId === worker.id) ?? null;
      const work = task ?? job;
      const run = work?.lastRunId ? await store.run(work.lastRunId) : null;
      const current = run?.status === 'running' && run.workerId === worker.id ? run : null;
      const beat = worker.beats.at(-1);
      return {
        name: workerLabel(worker, workers),
        role: worker.role,
        isOutside: worker.isOutside,
        task: task && { number: task.number, title: task.title, stage: task.stage },
        elapsedMs: work ? Math.max(0, now - work.lease!.claimedAt) : 0,
        mode: current?.mode ?? job?.mode ?? null,
        progress: current?.progress ?? null,
        runMs: current ? Math.max(0, now - current.startedAt) : null,
        usualMs: current?.usualMs ?? null,
        status: workerStatus(worker, work && { mode: current?.mode ?? job?.mode ?? null }),
        health: workerHealth(worker, now),
        desired: worker.desired,
        desiredBy: worker.desiredBy?.name ?? '',
        lastBeatAt: beat?.at ?? null,
        memoryMb: beat?.memoryMb ?? 0,
        cpuPercent: beat?.cpuPercent ?? 0,
        errors: worker.errors,
        tasksCompleted: worker.completed,
        lastError: worker.crash?.error ?? worker.lastError,
      };
    }),
  );
}

/** Repeating an operation is no error: the person may not know the current state. */
export async function steerWorkers(services: Services, input: Signed<'steerWorkers'>): Promise<WorkerView[]> {
  const project = await projectOf(services, input.project);
  const { operation, by } = input;
  const workers = await meant(services, project, input.worker);
  if (operation === 'restart' || operation === 'reset') {
    const agents = workers.filter(({ role }) => input.worker !== 'all' || role === 'builder' || role === 'reviewer');
    const how = { by, isReset: operation === 'reset' };
    await Promise.all(agents.map((worker) => restartWorker(services.store, worker, how)));
  } else {
    const of = { projectId: project.id, desired: DESIRED[operation], by };
    await executeTogether(
      services.store,
      workers.map(({ id: workerId }) => ({ type: 'worker.steer', ...of, workerId })),
    );
  }
  const all = await services.store.workers(project.id);
  const names = new Set(workers.map((worker) => workerLabel(worker, all)));
  return (await workerViews(services, project)).filter(({ name }) => names.has(name));
}

export async function addWorker(services: Services, input: RouteRequest<'addWorker'>): Promise<WorkerView> {
  const project = await projectOf(services, input.project);
  const name = await services.engines.of(project).addWorker();
  return (await workerViews(services, project)).find((view) => view.name === name)!;
}

export async function removeWorker(services: Services, input: RouteRequest<'removeWorker'>) {
  const project = await projectOf(services, input.project);
  const engine = services.engines.of(project);
  const [worker] = await meant(services, project, input.worker);
  await engine.removeWorker(worker!);
  return { removed: worker!.name };
}

/** Takes the task from its current worker. With a worker it is for that worker only, without one for any worker. */
export async function reassignTask(services: Services, input: Signed<'reassignTask'>) {
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const { store } = services;
  const { by } = input;
  const [worker] = input.worker === null ? [] : await meant(services, project, input.worker);
  const about = { projectId: project.id, taskId: task.id, by };
  const isElsewhere = task.lease !== null && task.lease.workerId !== worker?.id;
  // The assignment is for builders only. A reviewer or merger continues.
  const isTaken = isElsewhere && !(worker && task.role !== 'builder');
  const replies = await executeTogether(store, [
    { type: 'task.assign', ...about, workerId: worker?.id ?? null },
    ...(isTaken
      ? [
          {
            type: 'lease.take',
            projectId: project.id,
            subjectId: task.id,
            by,
            why: 'assigned to another worker',
          } as const,
        ]
      : []),
  ]);
  return summary(store, replies.at(-1)!.task!);
}

/** The worker of that name, or all. */
export async function meant({ store }: Services, project: Project, name: string): Promise<Worker[]> {
  const workers = await store.workers(project.id);
  if (name === 'all') return workers;
  const labels = workers.map((worker) => workerLabel(worker, workers));
  const found = workers.filter((worker, index) => labels[index] === name || worker.name === name);
  if (found.length === 1) return found;
  if (found.length > 1)
    throw new AppError('bad_input', `${found.length} hosts have a worker "${name}"`, {
      hint: `Name one of ${found.map((worker) => workerLabel(worker, workers)).join(', ')}.`,
    });
  throw new AppError('not_found', `${project.name} has no worker "${name}"`, {
    hint: workers.length > 0 ? `It has ${labels.join(', ')}.` : '`tidemill up` starts them.',
  });
}
