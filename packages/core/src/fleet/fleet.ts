import { BEATS_KEPT, type EventBody } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { findTask } from '../lease/fence.ts';
import { interruptRun, released } from '../lease/lease.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

type AboutWorker = CommandOf<'worker.wish' | 'worker.beat' | 'worker.crash' | 'worker.reset'>;

/** What a person wants of a worker, and what a worker says of itself. Wishing what is so already changes nothing. */
export function steerWorker(slice: Slice, command: AboutWorker, env: DecideEnv): Decision {
  const worker = slice.workers.get(command.workerId);
  if (worker?.projectId !== command.projectId) {
    const known = [...slice.workers.values()].map(({ name }) => name).join(', ');
    return refuse('not_found', `there is no worker ${command.workerId.split('/').at(-1)}`, known);
  }
  const { workerId } = command;
  switch (command.type) {
    case 'worker.wish':
      if (worker.wish === command.wish) return accept();
      return accept({ type: 'worker.wished', workerId, wish: command.wish, by: command.by });
    case 'worker.beat':
      return accept({ type: 'worker.beat', workerId, beat: { at: env.now, ...command.beat } });
    case 'worker.crash':
      return accept({ type: 'worker.crashed', workerId, error: command.error });
    case 'worker.reset':
      return accept({ type: 'worker.reset', workerId, by: command.by });
  }
}

/** Takes a task from whoever holds it; its work is kept and it waits in its stage for the next. */
export function takeLease(slice: Slice, command: CommandOf<'lease.take'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (!task.lease) return accept();
  const why = `${command.why} (${command.by})`;
  return accept(...interruptRun(slice, task, why), released(task, why));
}

export function assignTask(slice: Slice, command: CommandOf<'task.assign'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  const { workerId, by } = command;
  if (workerId !== null && slice.workers.get(workerId)?.projectId !== task.projectId)
    return refuse('not_found', `there is no worker ${workerId.split('/').at(-1)}`);
  if (task.stage === 'done' || task.stage === 'cancelled')
    return refuse('wrong_stage', `#${task.number} is ${task.stage}`, 'only work that is left can be given to somebody');
  if (task.assignee === workerId) return accept();
  return accept({ type: 'task.assigned', taskId: task.id, workerId, by });
}

export function reduceWorker(slice: Slice, projectId: string, at: number, body: EventBody): void {
  if (body.type === 'worker.registered') {
    const known = slice.workers.get(body.workerId);
    slice.workers.put({
      ...{ wish: 'running', wishedBy: '', wishedAt: 0, beats: [], crash: null, resetAt: 0, ...known },
      ...{ id: body.workerId, projectId, name: body.name, role: body.role },
    });
    return;
  }
  if (!('workerId' in body) || body.workerId === null) return;
  const worker = slice.workers.get(body.workerId);
  if (!worker) return;
  switch (body.type) {
    case 'worker.removed':
      slice.workers.remove(body.workerId);
      return;
    case 'worker.wished':
      slice.workers.put({ ...worker, wish: body.wish, wishedBy: body.by, wishedAt: at });
      return;
    case 'worker.beat':
      slice.workers.put({ ...worker, beats: [...worker.beats, body.beat].slice(-BEATS_KEPT) });
      return;
    case 'worker.crashed':
      slice.workers.put({ ...worker, crash: { error: body.error, at } });
      return;
    case 'worker.reset':
      slice.workers.put({ ...worker, crash: null, beats: [], resetAt: at });
      return;
    default:
      return;
  }
}
