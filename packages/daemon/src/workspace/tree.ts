import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nulList } from '../git/output.ts';
import { type Git, GitError } from '../git/program.ts';
import type { Site, Standing } from './site.ts';
import { clearStaleLock } from './stale-lock.ts';
import { copyIndex, hasAgentStaged, isThere } from './standing.ts';

export interface Staged {
  tree: string;
  notes: string[];
}

/**
 * The tree of the files as they lie there, put together in `index`: tracked and new files, without the ignored ones, as
 * `git add -A` sees them. Ignored files (dependencies, build output) are what a project says can be made again; they are
 * neither committed nor snapshotted.
 *
 * Submodules stay the links they are: their files are not checked out in a worktree, and a link an agent moved is
 * committed as it is. A repository an agent made inside the worktree would become a link to commits that exist nowhere
 * else, so its files are taken as plain files.
 */
export async function stage(site: Site, place: Standing, index: string, tip: string): Promise<Staged> {
  const git = site.gitAt(place, index);
  const notes: string[] = [];
  await clearStaleLock(`${index}.lock`, site.clock);
  if (!(await isThere(index))) await git(['read-tree', tip]);
  try {
    await addAll(git, notes);
  } catch (error) {
    if (!(error instanceof GitError) || !/index file|bad signature|bad index|unmerged/i.test(error.stderr)) throw error;
    await rm(index, { force: true });
    await git(['read-tree', tip]);
    await addAll(git, notes);
  }
  if (await hasAgentStaged(site, place)) await takeOverIgnored(site, place, git);
  return { tree: (await git(['write-tree'])).stdout.trim(), notes };
}

/** Stages into a copy, so that what is only looked at (and not committed) does not become tracked by it. */
export async function withStagedCopy<T>(
  site: Site,
  place: Standing,
  tip: string,
  use: (staged: Staged, index: string) => Promise<T>,
): Promise<T> {
  const copy = `${place.index}.look`;
  await rm(`${copy}.lock`, { force: true });
  if (await isThere(place.index)) await copyIndex(place.index, copy);
  try {
    return await use(await stage(site, place, copy, tip), copy);
  } finally {
    await rm(copy, { force: true });
  }
}

const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

async function addAll(git: Git, notes: string[]): Promise<void> {
  const taken = new Set<string>();
  for (;;) {
    const { code, stderr } = await git(['add', '-A', '--sparse'], { answers: [128] });
    const inner = embeddedRepositories(stderr).filter((path) => !taken.has(path));
    if (inner.length === 0 && code === 0) break;
    if (inner.length === 0) {
      await addReadable(git, stderr, notes);
      break;
    }
    for (const path of inner) {
      taken.add(path);
      notes.push(`${path} is a git repository of its own; its files were taken as plain files, its history was not`);
    }
    await openUp(git, inner);
  }
}

/** git goes into a folder with a `.git` only if the index already has a file of it; the next `add -A` drops this one. */
async function openUp(git: Git, paths: string[]): Promise<void> {
  await git(['update-index', '--force-remove', '-z', '--stdin'], { input: paths.map((path) => `${path}\0`).join('') });
  const entries = paths.map((path) => `100644 ${EMPTY_BLOB}\t${path}/.tidemill-opened\0`).join('');
  await git(['hash-object', '-w', '--stdin'], { input: '' });
  await git(['update-index', '--add', '-z', '--index-info'], { input: entries });
}

const embeddedRepositories = (stderr: string): string[] =>
  stderr
    .split('\n')
    .map(
      (line) =>
        /^warning: adding embedded git repository: (.+?)\/?$/.exec(line)?.[1] ??
        /^error: '(.+?)\/?' does not have a commit checked out/.exec(line)?.[1],
    )
    .filter((path) => path !== undefined);

/** A file nobody may read must not keep the rest from being saved. */
async function addReadable(git: Git, stderr: string, notes: string[]): Promise<void> {
  if (!/Permission denied|unable to index file|open\(".*"\)/.test(stderr)) throw new GitError(['add'], 128, stderr);
  await git(['add', '-A', '--sparse', '--ignore-errors'], { answers: [1, 128] });
  notes.push(`some files could not be read and were left as they were: ${stderr.split('\n')[0]}`);
}

/**
 * Ignored files are tracked only where somebody said so: `git add -f` or `git rm --cached` in the agent's index. That
 * is the one thing the agent's index knows and the files do not tell.
 */
async function takeOverIgnored(site: Site, place: Standing, git: Git): Promise<void> {
  const theirIndex = join(place.admin, 'index');
  if (!(await isThere(theirIndex))) return;
  const ask = ['ls-files', '-z', '-c', '-i', '--exclude-standard'];
  const [theirs, ours] = await Promise.all([site.gitAt(place, theirIndex)(ask, { answers: [128] }), git(ask)]);
  if (theirs.code !== 0) return;
  const [wanted, tracked] = [new Set(nulList(theirs.stdout)), new Set(nulList(ours.stdout))];
  const added = (
    await Promise.all(
      [...wanted.difference(tracked)].map(async (path) => (await isThere(join(place.path, path))) && path),
    )
  ).filter((path) => path !== false);
  const dropped = [...tracked.difference(wanted)];
  const input = (paths: string[]) => ({ input: paths.map((path) => `${path}\0`).join('') });
  if (added.length > 0) await git(['update-index', '--add', '-z', '--stdin'], input(added));
  if (dropped.length > 0) await git(['update-index', '--force-remove', '-z', '--stdin'], input(dropped));
}
