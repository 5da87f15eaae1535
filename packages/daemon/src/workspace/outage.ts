import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outage } from '../ports.ts';
import type { GitContext } from './git-context.ts';
import { isThere } from './registered-worktree.ts';

/** Below this no work starts: git, the store and the logs would soon fail. */
export const LEAST_FREE_BYTES = 16 * 1024 * 1024;
/** Size of a test write, because a quota shows only on writing. */
const PROBE_BYTES = 256 * 1024;

/**
 * Returns a problem that stops every task of the project. `isSuspected`: something failed, so a test file is written.
 */
export async function findOutage(context: GitContext, isSuspected: boolean): Promise<Outage | null> {
  const { root, commonDir } = context.info;
  if (!(await isThere(root)) || !(await isThere(commonDir)))
    return {
      kind: 'repository_gone',
      text: `The repository ${root} is missing. Move it back to continue. No new work starts until then, and no work is lost.`,
    };
  const other = await context.options.takenOver?.();
  if (other) return { kind: 'taken_over', text: `${other} No new work starts until then, and no work is lost.` };
  const full =
    (await shortOf(context.dataDir)) ?? (await shortOf(commonDir)) ?? (isSuspected ? await probe(context) : null);
  if (full) return full;
  const [target] = await context.resolver.resolve([`${context.targetRef}^{commit}`]);
  if (target) return null;
  const { target: name } = context.options;
  return {
    kind: 'target_gone',
    text: `The target branch ${name} is missing in ${root}. Create it again to continue (git branch ${name} COMMIT). No new work starts until then, and no work is lost.`,
  };
}

async function shortOf(folder: string): Promise<Outage | null> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LEAST_FREE_BYTES
    ? diskFull(folder, `${Math.floor((bavail * bsize) / 1024)} KB are left`)
    : null;
}

async function probe({ dataDir }: GitContext): Promise<Outage | null> {
  const file = join(dataDir, `.probe-${process.pid}`);
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    return diskFull(dataDir, code === 'EDQUOT' ? 'the quota is used up' : 'the disk is full');
  } finally {
    await rm(file, { force: true });
  }
}

const diskFull = (folder: string, how: string): Outage => ({
  kind: 'disk_full',
  text: `There is no disk space for ${folder}: ${how}. Free some space to continue. No new work starts until then, and no work is lost.`,
});
