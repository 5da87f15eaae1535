import type { Actor, Beat, DesiredState, EmergencyOperation, Role, SupervisorAction } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { accept } from '../refusal.ts';
import { registerWorker, removeWorker, steerWorker } from './worker.ts';

export interface WorkerCommands {
  'worker.register': { workerId: string; name: string; role: Role; host?: string; isOutside?: boolean };
  'worker.remove': { workerId: string };
  'worker.steer': { workerId: string; desired: DesiredState; by: Actor };
  'worker.beat': { workerId: string; beat: Omit<Beat, 'at'> };
  'worker.crash': { workerId: string; error: string; status?: 'crashed' | 'failed' };
  'worker.reset': { workerId: string; by: Actor };
  'supervisor.decide': { taskId: string | null; action: SupervisorAction; subject: string; reason: string };
  'emergency.record': {
    operation: EmergencyOperation;
    by: Actor;
    reason: string;
    workers: string[];
    tasks: number[];
  };
}

const scope = ({ workerId }: { workerId: string }): Lookup[] => [look('worker', workerId)];

export const workerCommands: CommandParts<keyof WorkerCommands> = {
  'worker.register': { scope, decide: registerWorker },
  'worker.remove': { scope, decide: removeWorker },
  'worker.steer': { scope, decide: steerWorker },
  'worker.beat': { scope, decide: steerWorker },
  'worker.crash': { scope, decide: steerWorker },
  'worker.reset': { scope, decide: steerWorker },
  'supervisor.decide': {
    scope: () => [],
    decide: (_slice, { taskId, action, subject, reason }) =>
      accept({ type: 'supervisor.decided', taskId, action, subject, reason }),
  },
  'emergency.record': {
    scope: () => [],
    decide: (_slice, { operation, by, reason, workers, tasks }) =>
      accept({ type: 'emergency.executed', operation, by, reason, workers, tasks }),
  },
};
