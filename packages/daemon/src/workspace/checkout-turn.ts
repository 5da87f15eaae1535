import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from './checkout.ts';
import type { GitContext } from './git-context.ts';
import { isAlive } from './orphaned-git.ts';

const PATIENCE_MS = 5_000;
/** Longer than any landing. A process that reuses the pid of a dead one must not block others forever. */
const FORGOTTEN_MS = 10 * 60_000;

/**
 * Two daemons, with a data folder each, may land in one checkout. git's own locks keep neither from writing files and
 * an index that the other has just replaced. Null when the other one does not finish.
 */
export async function inTurn<T>(context: GitContext, checkout: Checkout, work: () => Promise<T>): Promise<T | null> {
  const file = join(checkout.gitDir, 'tidemill-landing');
  const until = context.clock.now() + PATIENCE_MS;
  while (!(await taken(file))) {
    if (await isLeft(context, file)) await rm(file, { force: true });
    else if (context.clock.now() > until) return null;
    else await context.clock.sleep(20);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

const taken = (file: string): Promise<boolean> =>
  writeFile(file, `${process.pid}`, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );

async function isLeft(context: GitContext, file: string): Promise<boolean> {
  const [owner, found] = await Promise.all([readFile(file, 'utf8').catch(() => ''), stat(file).catch(() => null)]);
  if (!found) return false;
  // Created but not yet written.
  if (owner === '') return context.clock.now() - found.mtimeMs > PATIENCE_MS;
  return !isAlive(Number(owner)) || context.clock.now() - found.mtimeMs > FORGOTTEN_MS;
}
