import type { Task } from '@tidemill/contract';
import { isOutsideOwner } from '@tidemill/core';
import type { WorktreeRef } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Takes the task from whoever held it: work snapshotted and kept, run interrupted, task back in its stage. */
async function takeBack(deps: EngineDeps, task: Task, ownerIsDead: boolean): Promise<void> {
  const { id: taskId, projectId } = task;
  await keep(deps, task, ownerIsDead ? 'daemon died' : 'lease expired');
  await deps.store.execute({
    type: 'lease.expire',
    projectId,
    subjectId: taskId,
    token: task.lease!.token,
    ownerIsDead,
  });
}

/** Snapshots what lies in the task's worktree, if it is more than the branch has. */
export async function keep(deps: EngineDeps, task: Task, why: string): Promise<void> {
  const { id: taskId, projectId, number, branch } = task;
  try {
    const ref = await deps.workspace.snapshot({ number, branch }, why);
    if (ref) await deps.store.execute({ type: 'snapshot.note', projectId, taskId, ref, why });
  } catch (error) {
    deps.onNote(`the worktree of #${number} could not be snapshotted; it stays as it is`, error);
  }
}

/** Once, before anything is claimed: what an earlier daemon left behind. */
export async function recover(deps: EngineDeps): Promise<void> {
  for (const task of await deps.store.leased(deps.project.id)) {
    const owner = task.lease?.owner ?? deps.owner;
    // A worker outside any daemon works on in its worktree: only its silence ends that.
    if (owner !== deps.owner && !isOutsideOwner(owner) && deps.isOwnerDead(owner)) await takeBack(deps, task, true);
  }
  for (const { lease, ...job } of await leasedJobs(deps)) {
    const { owner, token } = lease;
    if (owner === deps.owner || !deps.isOwnerDead(owner)) continue;
    await deps.store.execute({ type: 'lease.expire', ...job, token, ownerIsDead: true });
  }
  const alive = await aliveTasks(deps);
  // What they waited for may have been put right meanwhile.
  for (const { id: taskId, projectId, waiting, lease } of alive)
    if (waiting !== null && !lease) await deps.store.execute({ type: 'task.wake', projectId, taskId });
  await collectGarbage(deps, alive);
}

/** Leftovers cost some disk space. That they cannot be removed now does not stop the work. */
async function collectGarbage(deps: EngineDeps, alive: WorktreeRef[]): Promise<void> {
  try {
    const garbage = await deps.workspace.collectGarbage(alive);
    if (garbage.length > 0) deps.onNote(`removed ${garbage.length} leftover worktrees and branches`);
  } catch (error) {
    deps.onNote('some leftover worktrees or branches could not be removed; the next start tries again', error);
  }
}

/** While running: leases nobody renews. */
export async function expireLeases(deps: EngineDeps): Promise<void> {
  const now = deps.clock.now();
  for (const task of await deps.store.leased(deps.project.id)) {
    if (task.lease && task.lease.expiresAt <= now) await takeBack(deps, task, false);
  }
  for (const { lease, ...job } of await leasedJobs(deps)) {
    if (lease.expiresAt > now) continue;
    await deps.store.execute({ type: 'lease.expire', ...job, token: lease.token, ownerIsDead: false });
  }
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
