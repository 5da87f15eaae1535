import type { Task } from '@tidemill/contract';
import { scopesOverlap } from './overlap.ts';

/** A task that is worked on holds the files of its scope; after this time they no longer keep others away. */
const LOCK_MS = 30 * 60_000;

/** All files at once and in one transaction with the claim, so that nobody ever holds some and waits for others. */
function holdsFiles(owner: Task, now: number): boolean {
  return owner.lease !== null && owner.files.length > 0 && now - owner.lease.claimedAt < LOCK_MS;
}

export interface LockDecision {
  action: 'grant' | 'preempt' | 'deny';
  /** Who holds what is wanted. */
  owner: Task | null;
  reason: string;
}

/** Who gets the files: nobody's go to whoever asks; more urgent work takes them from less urgent; else the owner keeps them. */
export function decideLock(wanted: Task, running: Task[], now: number): LockDecision {
  const owner = running.find(
    (other) => other.id !== wanted.id && holdsFiles(other, now) && scopesOverlap(wanted.files, other.files),
  );
  if (!owner) return { action: 'grant', owner: null, reason: 'nobody holds its files' };
  const held = `#${owner.number} holds ${owner.files.join(', ')}`;
  // A candidate may be on the target already: what is landing is not interrupted.
  const isRunningAgent = owner.role === 'builder' && owner.prepared === null;
  if (wanted.priority < owner.priority && isRunningAgent)
    return {
      action: 'preempt',
      owner,
      reason: `${held}, but priority ${wanted.priority} comes before ${owner.priority}`,
    };
  return { action: 'deny', owner, reason: `${held}, with priority ${owner.priority}` };
}
