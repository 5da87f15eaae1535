import type { Task } from '@tidemill/contract';
import { isOutsideOwner, lostWorker } from '@tidemill/core';
import type { WorktreeRef } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Ends the task's lease: the work is snapshotted, the run is interrupted, the task stays in its stage. */
async function takeBack(deps: EngineDeps, task: Task, ownerIsDead: boolean): Promise<void> {
  const { id: taskId, projectId } = task;
  await snapshotWork(deps, task, ownerIsDead ? 'daemon died' : 'lease expired');
  await deps.store.execute({
    type: 'lease.expire',
    projectId,
    subjectId: taskId,
    token: task.lease!.token,
    ownerIsDead,
  });
}

/** Snapshots the task's worktree if it differs from the branch. */
export async function snapshotWork(deps: EngineDeps, task: Task, why: string): Promise<void> {
  const { id: taskId, projectId, number, branch } = task;
  try {
    const ref = await deps.workspace.snapshot({ number, branch }, why);
    if (ref) await deps.store.execute({ type: 'snapshot.note', projectId, taskId, ref, why });
  } catch (error) {
    deps.onNote(`the worktree of #${number} could not be snapshotted; it is left unchanged`, error);
  }
}

/** Cleans up after an earlier daemon. Runs once, before the first claim. */
export async function recover(deps: EngineDeps): Promise<void> {
  for (const task of await deps.store.leased(deps.project.id)) {
    const owner = task.lease?.owner ?? deps.owner;
    // An outside worker does not depend on a daemon. Its lease ends only when it stops sending heartbeats.
    if (owner !== deps.owner && !isOutsideOwner(owner) && deps.isOwnerDead(owner)) await takeBack(deps, task, true);
  }
  for (const { lease, ...job } of await leasedJobs(deps)) {
    const { owner, token } = lease;
    if (owner === deps.owner || !deps.isOwnerDead(owner)) continue;
    await deps.store.execute({ type: 'lease.expire', ...job, token, ownerIsDead: true });
  }
  const alive = await aliveTasks(deps);
  // The cause of the wait may be fixed by now.
  for (const { id: taskId, projectId, waiting, lease } of alive)
    if (waiting !== null && !lease) await deps.store.execute({ type: 'task.wake', projectId, taskId });
  await collectGarbage(deps, alive);
  const numbers = new Set(alive.map(({ number }) => number));
  await tidyPrepared(deps, (task) => numbers.has(task));
}

/** Removes what was prepared from the work of tasks that have ended. It only costs disk space, so a failure stops nothing. */
export async function tidyPrepared(deps: EngineDeps, isAlive: (task: number) => boolean): Promise<void> {
  await deps.preparation
    ?.tidy(isAlive)
    .catch((error: unknown) => deps.onNote('prepared files of an ended task could not be removed', error));
}

/** Leftovers only cost disk space, so a failure does not stop the start. */
async function collectGarbage(deps: EngineDeps, alive: WorktreeRef[]): Promise<void> {
  try {
    const garbage = await deps.workspace.collectGarbage(alive);
    if (garbage.length > 0) deps.onNote(`removed ${garbage.length} leftover worktrees and branches`);
  } catch (error) {
    deps.onNote('some leftover worktrees or branches could not be removed; the next start tries again', error);
  }
}

/** Ends leases that are not renewed. */
export async function expireLeases(deps: EngineDeps): Promise<void> {
  const now = deps.clock.now();
  for (const task of await deps.store.leased(deps.project.id)) {
    if (!task.lease || task.lease.expiresAt > now) continue;
    await takeBack(deps, task, false);
    if (isOutsideOwner(task.lease.owner)) await reportLost(deps, task.lease.workerId);
  }
  for (const { lease, ...job } of await leasedJobs(deps)) {
    if (lease.expiresAt > now) continue;
    await deps.store.execute({ type: 'lease.expire', ...job, token: lease.token, ownerIsDead: false });
  }
}

/** An outside worker without a task is not expected to send heartbeats, so the supervisor would not miss it. */
async function reportLost({ store, project }: EngineDeps, workerId: string): Promise<void> {
  const worker = (await store.workers(project.id)).find(({ id }) => id === workerId);
  if (worker) await store.execute({ type: 'alert.raise', projectId: project.id, ...lostWorker(worker) });
}

async function leasedJobs({ store, project }: EngineDeps) {
  const open = await store.records({ noun: 'job', projectId: project.id, isOpen: true });
  return open.flatMap(({ projectId, subjectId, id: jobId, lease }) =>
    lease ? [{ projectId, subjectId, jobId, lease }] : [],
  );
}

export const aliveRefs = (deps: Pick<EngineDeps, 'store' | 'project'>): Promise<WorktreeRef[]> => aliveTasks(deps);

async function aliveTasks(deps: Pick<EngineDeps, 'store' | 'project'>): Promise<Task[]> {
  const alive: Task[] = [];
  for (let afterNumber = 0; ; ) {
    const page = await deps.store.tasks({ projectId: deps.project.id, afterNumber, limit: 1000 });
    alive.push(...page.filter(({ stage }) => stage !== 'done' && stage !== 'cancelled'));
    if (page.length < 1000) return alive;
    afterNumber = page.at(-1)!.number;
  }
}
