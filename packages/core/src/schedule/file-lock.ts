import { comingFiles, type Task } from '@tidemill/contract';
import { scopesOverlap } from './overlap.ts';

/** A leased task locks the files of its scope. After this time they no longer block others. */
const LOCK_MS = 30 * 60_000;
/** A task that has been in its stage for this long starts although a conflict is foreseen: no forecast stops it for good. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** All files at once, in one transaction with the claim, so that no task holds some files and waits for others. */
function holdsFiles(owner: Task, now: number): boolean {
  return owner.lease !== null && owner.files.length > 0 && now - owner.lease.claimedAt < LOCK_MS;
}

/**
 * A task that is being built now and whose change will conflict with this one. Both have changes that git cannot merge,
 * whether or not they declared files. More urgent work does not wait for it, and neither do review and landing.
 */
function rivalOf(wanted: Task, running: Task[], now: number): Task | undefined {
  if (wanted.forecast.length === 0 || now - wanted.stageSince >= LONGEST_WAIT_MS) return undefined;
  return running.find(
    ({ id, role, lease, priority }) =>
      role === 'builder' &&
      lease !== null &&
      now - lease.claimedAt < LOCK_MS &&
      priority <= wanted.priority &&
      wanted.forecast.some(({ taskId }) => taskId === id),
  );
}

export interface LockDecision {
  action: 'grant' | 'preempt' | 'deny';
  /** The task that holds the files, or will conflict. */
  owner: Task | null;
  reason: string;
}

/** Whether a task may be built now: free files are granted; a more urgent task takes them from a less urgent one; else the owner keeps them. */
export function decideLock(wanted: Task, running: Task[], now: number): LockDecision {
  const owner = running.find(
    (other) => other.id !== wanted.id && holdsFiles(other, now) && scopesOverlap(wanted.files, other.files),
  );
  if (!owner) {
    const rival = rivalOf(wanted, running, now);
    if (!rival) return { action: 'grant', owner: null, reason: 'nobody holds its files' };
    const coming = wanted.forecast.find(({ taskId }) => taskId === rival.id)!;
    const reason = `#${rival.number} is being built and will conflict with it in ${comingFiles(coming)}`;
    return { action: 'deny', owner: rival, reason };
  }
  const held = `#${owner.number} holds ${owner.files.join(', ')}`;
  // A candidate may already be on the target: a landing task is not interrupted.
  const isRunningAgent = owner.role === 'builder' && owner.prepared === null;
  if (wanted.priority < owner.priority && isRunningAgent)
    return {
      action: 'preempt',
      owner,
      reason: `${held}, but priority ${wanted.priority} comes before ${owner.priority}`,
    };
  return { action: 'deny', owner, reason: `${held}, with priority ${owner.priority}` };
}
