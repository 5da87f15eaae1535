import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, GitError } from '../git/program.ts';
import { type Changes, findChanges, placeOf, shown } from './changed-files.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { copyIndex, hasAgentStaged, isPlain, isThere, stampOf } from './registered-worktree.ts';
import { clearStaleLock } from './stale-lock.ts';

export interface Staged {
  tree: string;
  notes: string[];
  /** Files that are not in the tree because git cannot or may not store them, with the reason. */
  refused: string[];
}

/**
 * The tree of the files as they lie there, put together in `index`: tracked and new files, without the ignored ones.
 * Ignored files (dependencies, build output) are what a project says can be made again; they are neither committed nor
 * snapshotted.
 *
 * Submodules stay the links they are: their files are not checked out in a worktree, and a repository that somebody puts
 * there is not looked at. A repository an agent made inside the worktree would become a link to commits that exist nowhere
 * else, so its files are taken as plain files. Nothing here starts a git in one of them (docs/decisions/006).
 */
export async function stage(
  context: GitContext,
  place: RegisteredWorktree,
  index: string,
  tip: string,
): Promise<Staged> {
  const git = context.gitAt(place, index);
  await clearStaleLock(`${index}.lock`, context.clock);
  if (!(await isThere(index))) await git(['read-tree', tip]);
  let added: Added;
  try {
    added = await addAll(git, place.path);
  } catch (error) {
    if (!isIndexTrouble(error)) throw error;
    await rm(index, { force: true });
    await git(['read-tree', tip]);
    added = await addAll(git, place.path);
  }
  if (await hasAgentStaged(context, place)) await takeOverIgnored(context, place, git);
  const tree = index === place.index ? await knownTree(context, git, index) : await writeTree(git);
  return { tree, ...added };
}

const writeTree = async (git: Git): Promise<string> => (await git(['write-tree'])).stdout.trim();

async function knownTree(context: GitContext, git: Git, index: string): Promise<string> {
  const stamp = await stampOf(index);
  const known = context.indexTrees.get(index);
  if (known && known.stamp === stamp) return known.tree;
  const tree = await writeTree(git);
  // It may have written the trees into the index as well.
  context.indexTrees.set(index, { stamp: await stampOf(index), tree });
  return tree;
}

const isIndexTrouble = (error: unknown): boolean =>
  error instanceof GitError && /index file|bad signature|bad index|unmerged/i.test(error.stderr);

/** Stages into a copy, so that what is only looked at (and not committed) does not become tracked by it. */
export async function withStagedCopy<T>(
  context: GitContext,
  place: RegisteredWorktree,
  tip: string,
  use: (staged: Staged, index: string) => Promise<T>,
): Promise<T> {
  const copy = `${place.index}.look`;
  await rm(`${copy}.lock`, { force: true });
  if (await isThere(place.index)) await copyIndex(place.index, copy);
  try {
    return await use(await stage(context, place, copy, tip), copy);
  } finally {
    await rm(copy, { force: true });
  }
}

type Added = Omit<Staged, 'tree'>;

/** What `git add -A` would do, without what it would start. */
export async function addAll(git: Git, root: string): Promise<Added> {
  const { fresh, changed, notes, refused } = await findOpened(git, root);
  const unstorable = await put(git, [...changed, ...fresh]);
  return { notes, refused: atMost(20, [...refused, ...unstorable]) };
}

/** An index entry with it and without a file's times is always compared with the file. */
export const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
const DEEPEST = 8;

/**
 * The changes, those in nested repositories included. git goes into a folder with a `.git` only if the index has a file of
 * it, so it is given one; as that file does not exist, it is among what is gone.
 */
export async function findOpened(git: Git, root: string): Promise<Changes> {
  const taken: string[] = [];
  for (let depth = 0; ; depth++) {
    const found = await findChanges(git, root);
    const tooDeep = depth === DEEPEST ? found.nested : [];
    if (found.nested.length > tooDeep.length) {
      taken.push(...found.nested);
      await openUp(git, found.nested);
      continue;
    }
    const plain = 'is a separate git repository; its files are included, its history is not';
    found.notes.push(
      ...atMost(
        20,
        taken.map((path) => `${shown(path)} ${plain}`),
      ),
    );
    const deep = `is a repository in more than ${DEEPEST} others and is not included; remove its .git`;
    found.refused.push(...tooDeep.map((path) => `${shown(path)} ${deep}`));
    return found;
  }
}

async function openUp(git: Git, paths: string[]): Promise<void> {
  const entries = paths.map((path) => `100644 ${EMPTY_BLOB}\t${path}/.tidemill-opened\0`).join('');
  await git(['update-index', '--add', '--replace', '-z', '--index-info'], { input: Buffer.from(entries, 'latin1') });
}

const nulText = (paths: string[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');

/** Troubles of the repository or the machine, as opposed to those of a file. */
const NOT_THE_FILE =
  /insufficient permission|unable to (write|create)|Read-only file system|out of memory|too many open/i;
/** A hundred files that cannot be stored are found one by one; of more, whole groups are left out. */
const MOST_TRIES = 400;

/**
 * Puts files into the index as they lie there. One that cannot be read or converted fails all that come with it, so they
 * are halved until it stands alone. Returns what could not be put, with the reason.
 */
async function put(git: Git, paths: string[]): Promise<string[]> {
  let tries = 0;
  const attempt = async (some: string[]): Promise<string[]> => {
    if (some.length === 0) return [];
    try {
      tries += 1;
      await git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { input: nulText(some) });
      return [];
    } catch (error) {
      if (!(error instanceof GitError) || error.retriable || isIndexTrouble(error)) throw error;
      if (NOT_THE_FILE.test(error.stderr)) throw error;
      const reason = error.stderr.trim().split('\n')[0] ?? 'git could not store it';
      if (some.length === 1 || tries > MOST_TRIES)
        return some.map(
          (path) => `${shown(path)} could not be stored and keeps its committed version: ${shown(reason)}`,
        );
      const middle = Math.ceil(some.length / 2);
      return [...(await attempt(some.slice(0, middle))), ...(await attempt(some.slice(middle)))];
    }
  };
  return attempt(paths);
}

function atMost(most: number, lines: string[]): string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), `… and ${lines.length - most} more like these`];
}

/**
 * Ignored files are tracked only where somebody said so: `git add -f` or `git rm --cached` in the agent's index. That
 * is the one thing the agent's index knows and the files do not tell.
 */
async function takeOverIgnored(context: GitContext, place: RegisteredWorktree, git: Git): Promise<void> {
  const theirIndex = join(place.admin, 'index');
  if (!(await isThere(theirIndex))) return;
  const ask = ['ls-files', '-z', '-c', '-i', '--exclude-standard'];
  const [theirs, ours] = await Promise.all([context.gitAt(place, theirIndex)(ask, { answers: [128] }), git(ask)]);
  if (theirs.code !== 0) return;
  const names = (bytes: Buffer) =>
    new Set(
      bytes
        .toString('latin1')
        .split('\0')
        .filter((path) => path !== ''),
    );
  const [wanted, tracked] = [names(theirs.bytes), names(ours.bytes)];
  const added: string[] = [];
  // Only plain files: a folder with a repository in it would become a link.
  for (const path of wanted.difference(tracked)) if (await isPlain(placeOf(place.path, path))) added.push(path);
  const dropped = [...tracked.difference(wanted)];
  await put(git, added);
  if (dropped.length > 0) await git(['update-index', '--force-remove', '-z', '--stdin'], { input: nulText(dropped) });
}
