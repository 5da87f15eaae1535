import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import type { GitContext, TaskPaths } from './git-context.ts';
import { OWN_HEADS, type RefChange } from './ref.ts';
import { isThere } from './registered-worktree.ts';
import { SNAPSHOTS } from './snapshot-refs.ts';

/**
 * Records the branches of this data folder and their last commits. Two data folders may use one repository, refs have
 * no owner, and anyone with access can delete them. So the data folder keeps a file per branch, written before the refs
 * are moved.
 */
const recordOf = (dataDir: string, name: string): string => join(dataDir, 'index', `${name}.tip`);

export const nameOfBranch = (branch: string): string => branch.replace(/^task\//, '').replaceAll('/', '-');

export async function recordTips(context: GitContext, changes: RefChange[]): Promise<void> {
  for (const { ref, to } of changes) {
    if (to === null || !ref.startsWith(OWN_HEADS)) continue;
    const file = recordOf(context.dataDir, nameOfBranch(ref.slice(OWN_HEADS.length)));
    await writeFile(`${file}.new`, to);
    await rename(`${file}.new`, file);
  }
}

/** A branch from before these records has the engine's index. */
export async function isOurs(context: GitContext, name: string): Promise<boolean> {
  return (await isThere(recordOf(context.dataDir, name))) || (await isThere(join(context.dataDir, 'index', name)));
}

/** The last commit of a branch whose refs were deleted from outside, or null if unknown. */
export async function lostTip(context: GitContext, place: TaskPaths): Promise<string | null> {
  const noted = await readFile(recordOf(context.dataDir, place.name), 'utf8').catch(() => '');
  if (!/^[0-9a-f]{40,64}$/.test(noted)) return null;
  const [commit] = await context.resolver.resolve([`${noted}^{commit}`]);
  return commit ?? fromSnapshot(context, place);
}

/** Git has garbage-collected the commits. The parent of a snapshot of this branch still exists. */
async function fromSnapshot(context: GitContext, place: TaskPaths): Promise<string | null> {
  const format = '--format=%(objectname) %(contents:trailers:key=Branch,valueonly,separator=%x2C)';
  const { stdout } = await context.git([
    'for-each-ref',
    '--sort=-creatordate',
    format,
    `${SNAPSHOTS}/${place.number}/`,
  ]);
  const newest = stdout.split('\n').find((line) => line.endsWith(` ${place.branch}`));
  if (!newest) return null;
  const [parent] = await context.resolver.resolve([`${newest.split(' ')[0]}^1^{commit}`]);
  return parent ?? null;
}

/** Refuses a branch of another data folder: each would treat the other's commits as its own. */
export async function refuseForeign(
  context: GitContext,
  place: TaskPaths,
  tip: string | null | undefined,
): Promise<void> {
  if (!tip || (await isOurs(context, place.name))) return;
  throw new AppError(
    'conflict',
    `the branch ${place.branch} belongs to another data folder that uses this repository`,
    {
      hint: `Give the task another title. If that data folder no longer exists, run: git branch -D ${place.branch} && git update-ref -d ${place.tipRef}`,
    },
  );
}
