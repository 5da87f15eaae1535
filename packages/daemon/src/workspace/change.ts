import { createHash } from 'node:crypto';
import type { GitContext, TaskPaths } from './git-context.ts';

/** Number of names that fit a command line. For more files the blobs are compared, which a merge may change. */
const MOST_NAMES = 500;
/** Ignores git attributes, which the change itself may set. Binary files are compared as bytes. */
const OPTIONS = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--binary', '--full-index', '-U3'];
/** Line numbers of hunks and blob names: both change when the target moves. */
const MOVES = /^(?:@@ .*|index [0-9a-f]+\.\.[0-9a-f]+)/gm;

/** See `Workspace.changeIn`. */
export async function hashChange(context: GitContext, place: TaskPaths, files: string[]): Promise<string> {
  const [own, branch] = await context.resolver.resolve([place.tipRef, place.branchRef].map((ref) => `${ref}^{commit}`));
  const tip = own ?? branch;
  if (!tip) return '';
  const base = await context.mergeBase(tip, await context.target());
  const hash = createHash('sha256');
  const sorted = [...files].sort();
  const isMany = sorted.length > MOST_NAMES;
  for (let at = 0; at < sorted.length; at += MOST_NAMES) {
    const how = isMany ? ['--raw', '--no-abbrev'] : ['-p', ...OPTIONS];
    const names = sorted.slice(at, at + MOST_NAMES);
    const { bytes } = await context.git(['--literal-pathspecs', 'diff-tree', '-r', ...how, base, tip, '--', ...names]);
    // As bytes: different binary files must not get the same hash.
    hash.update(bytes.toString('latin1').replace(MOVES, ''), 'latin1');
  }
  return hash.digest('hex');
}
