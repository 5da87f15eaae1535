import { workerName } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

type AboutWorker = CommandOf<'worker.steer' | 'worker.beat' | 'worker.crash' | 'worker.reset'>;

/** What a person wants of a worker, and what a worker reports. Asking for the current state changes nothing. */
export function steerWorker(slice: Slice, command: AboutWorker, env: DecideEnv): Decision {
  const worker = slice.workers.get(command.workerId);
  if (worker?.projectId !== command.projectId) {
    return refuse('not_found', `there is no worker ${workerName(command.workerId)}`, '`tidemill workers` lists them');
  }
  const { workerId } = command;
  switch (command.type) {
    case 'worker.steer':
      if (worker.desired === command.desired) return accept();
      return accept({ type: 'worker.steered', workerId, desired: command.desired, by: command.by });
    case 'worker.beat':
      return accept({ type: 'worker.beat', workerId, beat: { at: env.now, ...command.beat } });
    case 'worker.crash':
      return accept({ type: 'worker.crashed', workerId, error: command.error, status: command.status ?? 'crashed' });
    case 'worker.reset':
      return accept({ type: 'worker.reset', workerId, by: command.by });
  }
}

export function registerWorker(slice: Slice, command: CommandOf<'worker.register'>): Decision {
  const known = slice.workers.get(command.workerId);
  const { workerId, name, role, host = '', isOutside = false } = command;
  if (known && known.isOutside !== isOutside) {
    const whose = known.isOutside ? 'a worker outside the daemon' : "one of the daemon's own workers";
    return refuse('conflict', `${name} is ${whose}`, 'choose another name');
  }
  if (known && known.host !== '' && known.host !== host)
    return refuse('conflict', `${name} is a worker of ${known.host}`, 'choose another name');
  if (known?.role === role && known.host === host) return accept();
  const where = { ...(host === '' ? {} : { host }), ...(isOutside ? { isOutside } : {}) };
  return accept({ type: 'worker.registered', workerId, name, role, ...where });
}

export function removeWorker(slice: Slice, command: CommandOf<'worker.remove'>): Decision {
  if (!slice.workers.get(command.workerId)) return accept();
  return accept({ type: 'worker.removed', workerId: command.workerId });
}
