import type { Caller, Refusal, Task } from '@tidemill/contract';
import { staleLease } from '../work.ts';

const OUTSIDE = 'outside/';

/**
 * The owner of a lease that a worker outside the daemon holds. The end of a daemon does not end it: only missing
 * heartbeats or a person do. A claim with a named token has that name in the owner, too.
 */
export const outsideOwner = (worker: string, { name }: Caller) =>
  name === null ? `${OUTSIDE}${worker}` : `${OUTSIDE}${worker}@${name}`;
export const isOutsideOwner = (owner: string) => owner.startsWith(OUTSIDE);

/** Everyone may read fences, so they do not protect workers from each other: the caller's token does. */
export const mayHandle = (owner: string, { name, role }: Caller) =>
  isOutsideOwner(owner) && (role !== 'worker' || owner.endsWith(`@${name}`));

/** Why this caller may not act for the holder of the task; null when it may. */
export function outsideRefusal(task: Pick<Task, 'number' | 'lease'>, fence: number, caller: Caller): Refusal | null {
  const { lease } = task;
  if (lease?.token !== fence || !isOutsideOwner(lease.owner)) return staleLease(task);
  if (mayHandle(lease.owner, caller)) return null;
  const message = `task #${task.number} was not claimed with the token "${caller.name}"`;
  return { code: 'forbidden', message, hint: 'use the token that claimed it' };
}
