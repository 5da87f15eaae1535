import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, said, spaced } from '../event/define.ts';
import { Beat, DesiredState, Role, workerName } from './worker.ts';

export const SupervisorAction = z.enum(['watch', 'ask', 'interrupt', 'grant', 'preempt', 'deny', 'redistribute']);
export type SupervisorAction = z.infer<typeof SupervisorAction>;
export const EmergencyOperation = z.enum([
  'emergency_stop',
  'recover_stuck',
  'purge_queue',
  'restart_worker',
  'reset_worker',
]);
export type EmergencyOperation = z.infer<typeof EmergencyOperation>;

export const workerEvents = [
  event(
    'worker.registered',
    {
      workerId: z.string(),
      name: z.string(),
      role: Role,
      host: z.string().optional(),
      isOutside: z.boolean().optional(),
    },
    { says: ({ name, role, isOutside }) => said(name, `was registered (${isOutside ? 'outside the daemon' : role})`) },
  ),
  event(
    'worker.removed',
    { workerId: z.string() },
    { says: ({ workerId }) => said(workerName(workerId), 'was removed') },
  ),
  event(
    'worker.steered',
    { workerId: z.string(), desired: DesiredState, by: Actor },
    { shown: 'terminal', says: ({ workerId, desired, by }) => said(by, `set ${workerName(workerId)} to ${desired}`) },
  ),
  event(
    'worker.beat',
    { workerId: z.string(), beat: Beat },
    {
      isSignOfLife: true,
      shown: 'log',
      says: ({ workerId, beat }) => said(workerName(workerId), `is alive, ${Math.round(beat.memoryMb)} MB`),
    },
  ),
  event(
    'worker.crashed',
    {
      workerId: z.string(),
      error: z.string(),
      status: z.enum(['crashed', 'failed']).default('crashed'),
    },
    { shown: 'terminal', says: ({ workerId, error, status }) => said(workerName(workerId), `${status}: ${error}`) },
  ),
  /** Errors and figures restart at zero here. */
  event(
    'worker.reset',
    { workerId: z.string(), by: Actor },
    { says: ({ workerId, by }) => said(by, `reset the figures of ${workerName(workerId)}`) },
  ),
  /** What the supervisor decided, and why. Its actions are separate events. */
  event(
    'supervisor.decided',
    {
      taskId: z.string().nullable(),
      action: SupervisorAction,
      subject: z.string(),
      reason: z.string(),
    },
    { says: ({ action, subject, reason }) => said('supervisor', `${action} ${subject}: ${reason}`) },
  ),
  /** The audit of operations that stop or discard work: who, when, what was affected. */
  event(
    'emergency.executed',
    {
      operation: EmergencyOperation,
      by: Actor,
      reason: z.string(),
      workers: z.array(z.string()),
      tasks: z.array(z.number()),
    },
    {
      shown: 'terminal',
      says: ({ operation, by, reason, workers }) =>
        said(by, `${spaced(operation)}, ${reason}: ${workers.map(workerName).join(', ') || 'no worker was active'}`),
    },
  ),
] as const;
