import { AppError, MAX_WORKERS, type Worker, workerIdOf } from '@tidemill/contract';
import { unwrap } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

type Deps = Pick<EngineDeps, 'store' | 'project'>;

/** Registers one more worker that builds, under the first free name. The fleet gives it a slot. */
export async function hireBuilder({ store, project }: Deps): Promise<string> {
  const builders = await ownBuilders({ store, project });
  if (builders.length >= MAX_WORKERS)
    throw new AppError('bad_input', `${builders.length} agents work on ${project.name} already`, {
      hint: `At most ${MAX_WORKERS} work on one project. Remove one first.`,
    });
  const taken = new Set(builders.map(({ name }) => name));
  let number = 1;
  while (taken.has(`agent-${number}`)) number += 1;
  const name = `agent-${number}`;
  const workerId = workerIdOf(project.id, name);
  unwrap(await store.execute({ type: 'worker.register', projectId: project.id, workerId, name, role: 'builder' }));
  return name;
}

/** The fleet stops what it has in hand and frees the tasks that were given to it. */
export async function dismissBuilder({ store, project }: Deps, worker: Worker): Promise<void> {
  const builders = await ownBuilders({ store, project });
  if (worker.role !== 'builder')
    throw new AppError('bad_input', `${worker.name} is always there`, { hint: 'Pause or stop it instead.' });
  if (builders.length === 1 && !worker.isOutside)
    throw new AppError('bad_input', `${worker.name} is the last one that builds`, {
      hint: '`tidemill pause` lets nobody work.',
    });
  unwrap(await store.execute({ type: 'worker.remove', projectId: project.id, workerId: worker.id }));
}

/** Those that the daemon runs: only they count against the limit. */
const ownBuilders = async ({ store, project }: Deps) =>
  (await store.workers(project.id)).filter(({ role, isOutside }) => role === 'builder' && !isOutside);
