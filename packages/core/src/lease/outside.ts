import type { Refusal, Task } from '@tidemill/contract';
import { staleLease } from './fence.ts';

const OUTSIDE = 'outside/';

/**
 * In whose name a worker outside the daemon holds its lease. No daemon's death ends it: the worker lives on, and only its
 * silence or a person takes the task from it.
 */
export const outsideOwner = (name: string) => `${OUTSIDE}${name}`;
export const isOutsideOwner = (owner: string) => owner.startsWith(OUTSIDE);

/** Tokens are small numbers: one that is right by chance must not let anybody hand in what an agent of ours works on. */
export function outsideRefusal(task: Pick<Task, 'number' | 'lease'>, token: number): Refusal | null {
  const { lease } = task;
  return lease?.token === token && isOutsideOwner(lease.owner) ? null : staleLease(task);
}
