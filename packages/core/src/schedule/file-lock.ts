import type { Task } from '@tidemill/contract';
import { scopesOverlap } from './overlap.ts';

/** A leased task locks the files of its scope. After this time they no longer block others. */
const LOCK_MS = 30 * 60_000;

/** All files at once, in one transaction with the claim, so that no task holds some files and waits for others. */
function holdsFiles(owner: Task, now: number): boolean {
  return owner.lease !== null && owner.files.length > 0 && now - owner.lease.claimedAt < LOCK_MS;
}

export interface LockDecision {
  action: 'grant' | 'preempt' | 'deny';
  /** The task that holds the files. */
  owner: Task | null;
  reason: string;
}

/** Who gets the files: free files are granted; a more urgent task takes them from a less urgent one; else the owner keeps them. */
export function decideLock(wanted: Task, running: Task[], now: number): LockDecision {
  const owner = running.find(
    (other) => other.id !== wanted.id && holdsFiles(other, now) && scopesOverlap(wanted.files, other.files),
  );
  if (!owner) return { action: 'grant', owner: null, reason: 'nobody holds its files' };
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
