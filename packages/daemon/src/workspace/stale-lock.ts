import { rm, stat } from 'node:fs/promises';
import { type Git, GitError } from '../git/program.ts';
import type { Clock } from '../ports.ts';

const STALE_LOCK_MS = 3_000;
const TRIES = 5;

/**
 * Waits until a lock file of ours is gone, or is old enough to be a dead process's, and removes it then. The task's
 * lock keeps every git of this process away meanwhile, and the daemon's start waited for those its predecessor left.
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

/** A git that removes our own stale lock files. It fails on all other locks. */
export function pastStaleLocks(git: Git, clock: Clock, isOurs: (path: string) => boolean): Git {
  return async (args, options) => {
    for (let tries = 1; ; tries++) {
      try {
        return await git(args, options);
      } catch (error) {
        const lock = error instanceof GitError && /Unable to create '(.+?\.lock)': File exists/.exec(error.stderr)?.[1];
        if (!lock || !isOurs(lock) || tries >= TRIES) throw error;
        await clearStaleLock(lock, clock);
      }
    }
  };
}
