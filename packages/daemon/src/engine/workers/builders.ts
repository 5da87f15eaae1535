import { AppError, MAX_WORKERS, type Worker, workerIdOf, workerLabel } from '@tidemill/contract';
import { unwrap } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

type Deps = Pick<EngineDeps, 'store' | 'project' | 'host'>;

/** Registers one more builder under the first free name and returns its label. The fleet gives it a slot. */
export async function addBuilder({ store, project, host }: Deps): Promise<string> {
  const builders = await ownBuilders({ store, project, host });
  if (builders.length >= MAX_WORKERS)
    throw new AppError('bad_input', `${project.name} already has ${builders.length} builders`, {
      hint: `The limit is ${MAX_WORKERS} per project. Remove one first.`,
    });
  const taken = new Set(builders.map(({ name }) => name));
  let number = 1;
  while (taken.has(`agent-${number}`)) number += 1;
  const name = `agent-${number}`;
  const workerId = workerIdOf(project.id, name, host);
  const about = { projectId: project.id, workerId, name, role: 'builder', host } as const;
  unwrap(await store.execute({ type: 'worker.register', ...about }));
  return workerLabel({ name, host }, await store.workers(project.id));
}

/** The fleet stops its work and unassigns its tasks. */
export async function removeBuilder({ store, project, host }: Deps, worker: Worker): Promise<void> {
  const builders = await ownBuilders({ store, project, host });
  if (worker.role !== 'builder')
    throw new AppError('bad_input', `${worker.name} cannot be removed: the project always needs it`, {
      hint: 'Pause or stop it instead.',
    });
  if (builders.length === 1 && builders[0]?.id === worker.id)
    throw new AppError('bad_input', `${worker.name} is the last builder`, {
      hint: 'Use `tidemill pause` to stop all work.',
    });
  unwrap(await store.execute({ type: 'worker.remove', projectId: project.id, workerId: worker.id }));
}

/** The builders of this daemon. Only they count against the limit. */
const ownBuilders = async ({ store, project, host }: Deps) =>
  (await store.workers(project.id)).filter((worker) => worker.role === 'builder' && worker.host === host);
