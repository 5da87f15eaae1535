import type { ComingConflict, ComingConflictView, ComingPair, Project, RouteRequest, Task } from '@tidemill/contract';
import { decideLock, isLarger, isOpenConflict, isReady } from '@tidemill/core';
import { liveWork } from '../../engine/stages/coming-conflicts.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

type Sources = Pick<Services, 'store' | 'clock'>;

/** Coming conflicts of all unfinished work, each once. */
export async function listComingConflicts(
  services: Services,
  input: RouteRequest<'comingConflicts'>,
): Promise<ComingPair[]> {
  const project = await projectOf(services, input.project);
  const tasks = (await liveWork({ store: services.store, project })).filter(({ forecast }) => forecast.length > 0);
  const pairs: ComingPair[] = [];
  for (const task of tasks) {
    const { number, title, stage } = task;
    // A conflict with the target that waits for a person is there already.
    for (const coming of await comingOf(services, project, task))
      if (!coming.landsFirst && !(coming.number === null && isOpenConflict(task)))
        pairs.push({ task: { number, title, stage }, with: coming });
  }
  return pairs;
}

/** The coming conflicts of one task, with what a person wants to know of the other side. */
export async function comingOf({ store, clock }: Sources, project: Project, task: Task): Promise<ComingConflictView[]> {
  const ids = task.forecast.flatMap(({ taskId }) => taskId ?? []);
  const others = new Map(
    (ids.length === 0 ? [] : await store.tasks({ projectId: project.id, ids })).map((other) => [other.id, other]),
  );
  const mayBuild = isReady(task) && task.role === 'builder';
  const owner = mayBuild ? decideLock(task, [...others.values()], clock.now()).owner : null;
  return task.forecast.map(({ taskId, ...entry }) => {
    const other = others.get(taskId ?? '');
    const { title = null, stage = null } = other ?? {};
    const holds = owner !== null && owner.id === taskId;
    return { ...entry, title, stage, landsFirst: landsFirst(task, entry), holds };
  });
}

function landsFirst({ number }: Task, coming: Omit<ComingConflict, 'taskId'>): boolean {
  if (coming.number === null || coming.otherSize === null) return false;
  return isLarger({ number, size: coming.size }, { number: coming.number, size: coming.otherSize });
}
