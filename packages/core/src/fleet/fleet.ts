import { BEATS_KEPT, type EventBody, type Run, type Worker, workerName } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { findTask } from '../lease/fence.ts';
import { interruptRun, released } from '../lease/lease.ts';
import { parkedIfAsking } from '../question/park.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

/** Interruptions for silence, since the last success, after which a person is asked. */
const MAX_STUCK = 3;

type AboutWorker = CommandOf<'worker.wish' | 'worker.beat' | 'worker.crash' | 'worker.reset'>;

/** What a person wants of a worker, and what a worker says of itself. Wishing what is so already changes nothing. */
export function steerWorker(slice: Slice, command: AboutWorker, env: DecideEnv): Decision {
  const worker = slice.workers.get(command.workerId);
  if (worker?.projectId !== command.projectId) {
    const known = [...slice.workers.values()].map(({ name }) => name).join(', ');
    return refuse('not_found', `there is no worker ${workerName(command.workerId)}`, known);
  }
  const { workerId } = command;
  switch (command.type) {
    case 'worker.wish':
      if (worker.wish === command.wish) return accept();
      return accept({ type: 'worker.wished', workerId, wish: command.wish, by: command.by });
    case 'worker.beat':
      return accept({ type: 'worker.beat', workerId, beat: { at: env.now, ...command.beat } });
    case 'worker.crash':
      return accept({ type: 'worker.crashed', workerId, error: command.error, status: command.status ?? 'crashed' });
    case 'worker.reset':
      return accept({ type: 'worker.reset', workerId, by: command.by });
  }
}

/** Takes a task from whoever holds it; its work is kept and it waits in its stage for the next, or for the answers it needs. */
export function takeLease(slice: Slice, command: CommandOf<'lease.take'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (!task.lease) return accept();
  const why = `${command.why} (${command.by})`;
  const stopped = interruptRun(slice, task, why);
  if (!command.isStuck) return accept(...stopped, released(task, why), ...parkedIfAsking(task));
  const count = (task.counters.failures.stuck ?? 0) + 1;
  const counted: EventBody = { type: 'failure.counted', taskId: task.id, failure: 'stuck', count, notBefore: 0 };
  if (count < MAX_STUCK) return accept(...stopped, counted, released(task, why), ...parkedIfAsking(task));
  const text = `Its agent was silent for half an hour, ${count} times. Its work is kept; retry it with a note, or cancel it.`;
  const blocked = { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'no_progress', text } as const;
  return accept(...stopped, counted, blocked, released(task, why));
}

export function assignTask(slice: Slice, command: CommandOf<'task.assign'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  const { workerId, by } = command;
  const worker = workerId === null ? null : slice.workers.get(workerId);
  if (worker === undefined || (worker && worker.projectId !== task.projectId))
    return refuse('not_found', `there is no worker ${workerId && workerName(workerId)}`);
  if (worker && worker.role !== 'builder')
    return refuse('bad_input', `${worker.name} is a ${worker.role}`, 'tasks are given to those who build: agent-1 …');
  if (task.stage === 'done' || task.stage === 'cancelled')
    return refuse('wrong_stage', `#${task.number} is ${task.stage}`, 'only work that is left can be given to somebody');
  if (task.assignee === workerId) return accept();
  return accept({ type: 'task.assigned', taskId: task.id, workerId, by });
}

export function reduceWorker(slice: Slice, projectId: string, at: number, body: EventBody): void {
  if (body.type === 'worker.registered') {
    const { workerId: id, name, role, isOutside = false } = body;
    slice.workers.put({ ...NEW_WORKER, ...slice.workers.get(id), id, projectId, name, role, isOutside });
    return;
  }
  if (body.type === 'merge.landed') {
    for (const id of body.workers ?? []) change(slice, id, ({ completed }) => ({ completed: completed + 1 }));
    return;
  }
  if (body.type === 'worker.removed') {
    slice.workers.remove(body.workerId);
    return;
  }
  if (!('workerId' in body) || !body.workerId) return;
  const run = body.type === 'run.finished' ? slice.runs.get(body.runId) : undefined;
  change(slice, body.workerId, (worker) => workerAfter(worker, at, body, run));
}

const NEW_WORKER = {
  ...{ wish: 'running', wishedBy: '', wishedAt: 0, beats: [], crash: null, resetAt: 0 },
  ...{ completed: 0, errors: 0, lastError: null },
} as const satisfies Partial<Worker>;

function change(slice: Slice, id: string, after: (worker: Worker) => Partial<Worker> | null): void {
  const worker = slice.workers.get(id);
  const changed = worker && after(worker);
  if (worker && changed) slice.workers.put({ ...worker, ...changed });
}

/** The fields of the worker that the event changes; null when it changes none. */
function workerAfter(worker: Worker, at: number, body: EventBody, run: Run | undefined): Partial<Worker> | null {
  switch (body.type) {
    case 'worker.wished': {
      // Whoever lets it run again has seen what it died of.
      const crash = body.wish === 'running' ? null : worker.crash;
      return { wish: body.wish, wishedBy: body.by, wishedAt: at, crash };
    }
    case 'worker.beat':
      return { beats: [...worker.beats, body.beat].slice(-BEATS_KEPT) };
    case 'worker.crashed':
      return { crash: { error: body.error, at, status: body.status } };
    case 'worker.reset':
      return { crash: null, beats: [], resetAt: at, completed: 0, errors: 0, lastError: null };
    case 'lease.claimed':
      return worker.crash ? { crash: null } : null;
    case 'run.finished': {
      if (body.failure !== null) return { errors: worker.errors + 1, lastError: `${body.failure}: ${body.message}` };
      const isReview = run?.mode === 'review';
      return isReview && body.outcome !== 'interrupted' ? { completed: worker.completed + 1 } : null;
    }
    default:
      return null;
  }
}
