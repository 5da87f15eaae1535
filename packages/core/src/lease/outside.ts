import type { Caller, Refusal, Task } from '@tidemill/contract';
import { staleLease } from '../work.ts';

const OUTSIDE = 'outside/';

/**
 * In whose name a worker outside the daemon holds its lease. No daemon's death ends it: the worker lives on, and only its
 * silence or a person takes the task from it. Who claimed with a token of their own is told by its name, too.
 */
export const outsideOwner = (worker: string, { name }: Caller) =>
  name === null ? `${OUTSIDE}${worker}` : `${OUTSIDE}${worker}@${name}`;
export const isOutsideOwner = (owner: string) => owner.startsWith(OUTSIDE);

/** Fences are small numbers that everybody may read: what keeps workers apart is the token each of them came with. */
export const mayHandle = (owner: string, { name, role }: Caller) =>
  isOutsideOwner(owner) && (role !== 'worker' || owner.endsWith(`@${name}`));

/** Why this caller may not speak for whoever holds the task; null when it may. */
export function outsideRefusal(task: Pick<Task, 'number' | 'lease'>, fence: number, caller: Caller): Refusal | null {
  const { lease } = task;
  if (lease?.token !== fence || !isOutsideOwner(lease.owner)) return staleLease(task);
  if (mayHandle(lease.owner, caller)) return null;
  const message = `task #${task.number} was claimed with another token than "${caller.name}"`;
  return { code: 'forbidden', message, hint: 'use the token that it was claimed with' };
}
