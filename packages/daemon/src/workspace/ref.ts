import { rm, stat } from 'node:fs/promises';
import { type Git, GitError } from '../git/program.ts';
import type { Clock } from '../ports.ts';
import type { Site } from './site.ts';

export interface RefChange {
  ref: string;
  /** null deletes. */
  to: string | null;
  /** What it must be now; NOTHING when it must not exist. Left out: whatever it is. */
  from?: string;
}

export const NOTHING = '0'.repeat(40);

/** All of the changes or none. Only for refs of ours: their stale lock files are ours to remove. */
export async function moveRefs(site: Site, changes: RefChange[]): Promise<void> {
  const input = changes
    .map(({ ref, to, from }) => (to ? `update ${ref} ${to}${from ? ` ${from}` : ''}\n` : `delete ${ref}\n`))
    .join('');
  const attempt = () => site.git(['update-ref', '--stdin'], { input });
  try {
    await attempt();
  } catch (error) {
    const lock = error instanceof GitError && /Unable to create '(.+?\.lock)': File exists/.exec(error.stderr)?.[1];
    if (!lock || !changes.some(({ ref }) => lock.endsWith(`/${ref}.lock`))) throw error;
    await clearStaleLock(lock, site.clock);
    await attempt();
  }
}

export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  if (ancestor === of) return true;
  return (await git(['merge-base', '--is-ancestor', ancestor, of], { answers: [1] })).code === 0;
}

const STALE_LOCK_MS = 5_000;

/**
 * Waits until a lock file of ours is gone, or is old enough to be a dead process's, and removes it then. The task's lock
 * keeps every git of this process away meanwhile, and the daemon's start waited for those its predecessor left.
 */
export async function clearStaleLock(path: string, clock: Clock): Promise<boolean> {
  for (;;) {
    const found = await stat(path).catch(() => null);
    if (!found) return false;
    const age = clock.now() - found.mtimeMs;
    if (Math.abs(age) >= STALE_LOCK_MS) {
      await rm(path, { force: true });
      return true;
    }
    await clock.sleep(100);
  }
}
