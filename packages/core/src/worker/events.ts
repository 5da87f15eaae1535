import { BEATS_KEPT, type Worker } from '@tidemill/contract';
import { changesNothing, type Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const workerEvents = {
  'worker.registered': (slice, { workerId: id, name, role, host = '', isOutside = false }, { projectId }) =>
    slice.workers.put({ ...NEW_WORKER, ...slice.workers.get(id), id, projectId, name, role, host, isOutside }),
  'worker.removed': (slice, { workerId }) => slice.workers.remove(workerId),
  'worker.steered': (slice, { workerId, desired, by }, { at }) =>
    // A person who starts it again has seen its error.
    change(slice, workerId, ({ crash }) => ({
      desired,
      desiredBy: by,
      desiredAt: at,
      crash: desired === 'running' ? null : crash,
    })),
  'worker.beat': (slice, { workerId, beat }) =>
    change(slice, workerId, ({ beats }) => ({ beats: [...beats, beat].slice(-BEATS_KEPT) })),
  'worker.crashed': (slice, { workerId, error, status }, { at }) =>
    change(slice, workerId, () => ({ crash: { error, at, status } })),
  'worker.reset': (slice, { workerId }, { at }) =>
    change(slice, workerId, () => ({
      crash: null,
      beats: [],
      resetAt: at,
      completed: 0,
      errors: 0,
      lastError: null,
    })),
  'lease.claimed': (slice, { workerId }) => change(slice, workerId, ({ crash }) => (crash ? { crash: null } : null)),
  'run.finished': (slice, { workerId, runId, failure, message, outcome }) => {
    if (!workerId) return;
    const isReview = slice.runs.ifLoaded(runId)?.mode === 'review';
    change(slice, workerId, ({ errors, completed }) => {
      if (failure !== null) return { errors: errors + 1, lastError: `${failure}: ${message}` };
      return isReview && outcome !== 'interrupted' ? { completed: completed + 1 } : null;
    });
  },
  'merge.landed': (slice, { workers = [] }) => {
    for (const id of workers) change(slice, id, ({ completed }) => ({ completed: completed + 1 }));
  },
  'supervisor.decided': changesNothing,
  'emergency.executed': changesNothing,
} satisfies Reductions;

const NEW_WORKER = {
  desired: 'running',
  desiredBy: null,
  desiredAt: 0,
  beats: [],
  crash: null,
  resetAt: 0,
  completed: 0,
  errors: 0,
  lastError: null,
} as const satisfies Partial<Worker>;

function change(slice: Slice, id: string, after: (worker: Worker) => Partial<Worker> | null): void {
  const worker = slice.workers.get(id);
  const changed = worker && after(worker);
  if (worker && changed) slice.workers.put({ ...worker, ...changed });
}
