import {
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '@tidemill/contract';
import { GitError } from '../git/program.ts';
import { lostTip, refuseForeign } from './branch-tips.ts';
import type { GitContext, RegisteredWorktree, TaskPaths } from './git-context.ts';
import { moveRefs, type RefChange } from './ref.ts';
import { keepCommits } from './snapshot-refs.ts';
import { clearStaleLock } from './stale-lock.ts';
import type { Trash } from './trash.ts';

/**
 * Creates or repairs a task's worktree:
 *
 *   no folder, or an empty one, or a file in its place → made from the engine's tip, else the branch, else the target
 *   a checkout that git never finished                 → discarded and created again (no agent has used it)
 *   a folder git no longer knows                       → registered again, its files untouched
 *   a `.git` that points elsewhere                     → repaired; a repository in its place is moved away
 */
export async function registerWorktree(
  context: GitContext,
  trash: Trash,
  place: TaskPaths,
  notes: string[],
): Promise<RegisteredWorktree> {
  const admin = await findAdmin(context, place);
  const found = await lookAt(place.path);
  if (found === 'folder' && (await isUnfinished(place, admin))) await trash.throwAway(place.path);
  else if (found === 'folder') return repair(context, place, admin, notes);
  else if (found === 'empty') await rmdir(place.path);
  else if (found === 'other') await trash.throwAway(place.path);
  if (admin) {
    await rm(admin, { recursive: true, force: true });
    if (found !== 'folder') notes.push("the worktree's files were deleted; they were restored from the last commit");
  }
  return create(context, place, notes);
}

/**
 * The registration whose worktree is at this path. Usually it has the folder's name; git numbers it when that was
 * taken.
 */
export async function findAdmin(context: GitContext, place: Pick<TaskPaths, 'name' | 'path'>): Promise<string | null> {
  const all = join(context.info.commonDir, 'worktrees');
  if ((await worktreeOf(join(all, place.name))) === place.path) return join(all, place.name);
  for (const name of await readdir(all).catch(() => [])) {
    if ((await worktreeOf(join(all, name))) === place.path) return join(all, name);
  }
  return null;
}

/** The folder a registration belongs to, or null if it is none. */
export async function worktreeOf(admin: string): Promise<string | null> {
  const gitFile = await readFile(join(admin, 'gitdir'), 'utf8').catch(() => null);
  return gitFile === null ? null : dirname(resolve(admin, gitFile.replace(/\n$/, '')));
}

async function lookAt(path: string): Promise<'nothing' | 'folder' | 'empty' | 'other'> {
  const found = await lstat(path).catch(() => null);
  if (!found) return 'nothing';
  if (!found.isDirectory()) return 'other';
  return (await readdir(path)).length === 0 ? 'empty' : 'folder';
}

/** The engine's index is copied last, so with it the checkout is complete; git keeps `locked` until it is done. */
async function isUnfinished(place: TaskPaths, admin: string | null): Promise<boolean> {
  if (!admin || (await isThere(place.index))) return false;
  return (await isThere(join(admin, 'locked'))) || !(await isThere(join(admin, 'index')));
}

async function create(context: GitContext, place: TaskPaths, notes: string[]): Promise<RegisteredWorktree> {
  const names = [`${place.tipRef}^{commit}`, `${place.branchRef}^{commit}`, `${context.targetRef}^{commit}`];
  const [tip, branch, target] = await context.resolver.resolve(names);
  await refuseForeign(context, place, tip);
  const lost = tip || branch ? null : await lostTip(context, place);
  if (lost) notes.push('the branch was deleted; it was created again from its last commit');
  const start = tip ?? branch ?? lost ?? target ?? (await context.target());
  const refs: RefChange[] = [];
  if (branch && branch !== start) {
    const kept = await keepCommits(
      context,
      place,
      start,
      [branch],
      'the branch had been moved while its worktree was gone',
    );
    if (kept) notes.push(`the branch was moved; its commits are saved at ${kept}`);
    refs.push({ ref: place.branchRef, to: start });
  }
  if (tip !== start) refs.push({ ref: place.tipRef, to: start });
  // Not by `worktree add -b`, which would start a git of its own for it.
  if (!branch) refs.push({ ref: place.branchRef, to: start });
  // One that was left would make a checkout that is cut short look finished.
  await rm(place.index, { force: true });
  await context.shared(async () => {
    if (refs.length > 0) await moveRefs(context, refs);
    const add = ['worktree', 'add', '-q', '--no-checkout', place.path, place.branch];
    await context.git(add).catch((error) => refuseAdd(error, place));
  });
  const admin = await findAdmin(context, place);
  if (!admin) throw new AppError('git_failed', `git did not register the worktree ${place.path}`);
  const standing = { ...place, admin };
  // Only the registration needs its turn: the files of several worktrees are written at the same time.
  const index = join(admin, 'index');
  await context.gitAt(standing, index)(['reset', '-q', '--hard', '--no-recurse-submodules']);
  await copyIndex(index, place.index);
  await rm(place.marker, { force: true });
  await stampAgentIndex(context, standing);
  return standing;
}

function refuseAdd(error: unknown, place: TaskPaths): never {
  const elsewhere =
    error instanceof GitError && /already (?:checked out|used by worktree) at '(.+)'/.exec(error.stderr)?.[1];
  if (!elsewhere) throw error;
  throw new AppError('git_failed', `the branch ${place.branch} is checked out in ${elsewhere}`, {
    hint: `Switch that checkout to another branch. Task #${place.number} needs this one.`,
    cause: error,
  });
}

async function repair(
  context: GitContext,
  place: TaskPaths,
  known: string | null,
  notes: string[],
): Promise<RegisteredWorktree> {
  const admin = known ?? (await register(context, place, notes));
  const standing = { ...place, admin };
  const right = `gitdir: ${admin}\n`;
  const gitFile = join(place.path, '.git');
  const found = await lstat(gitFile).catch(() => null);
  const isRight = found?.isFile() && found.size === Buffer.byteLength(right);
  if (isRight && (await readFile(gitFile, 'utf8')) === right) return standing;
  if (found?.isDirectory()) notes.push(await setAsideRepository(context, place, gitFile));
  else {
    notes.push("the worktree's .git file was changed or deleted; it was repaired");
    await rm(gitFile, { force: true });
  }
  await writeFile(gitFile, right);
  return standing;
}

/**
 * A repository created over the worktree is moved away unchanged. No git command reads it, because its configuration
 * could run programs.
 */
async function setAsideRepository(context: GitContext, place: TaskPaths, gitDir: string): Promise<string> {
  const aside = join(asideFolder(context, place), `${Math.floor(context.clock.now())}-${context.next()}.git`);
  await mkdir(dirname(aside), { recursive: true });
  await rename(gitDir, aside);
  return `a new git repository was created in the worktree; it is saved at ${aside} until the task ends, and its files are used`;
}

/** Files that were moved out of a task's worktree. They are removed with the task. */
export const asideFolder = (context: GitContext, place: TaskPaths): string =>
  join(context.dataDir, 'aside', place.name);

/** Git registers only an empty folder, so the files are moved away for a moment. */
async function register(context: GitContext, place: TaskPaths, notes: string[]): Promise<string> {
  const aside = `${place.path}.aside`;
  const [tip, branch] = await context.resolver.resolve([`${place.tipRef}^{commit}`, `${place.branchRef}^{commit}`]);
  const start = tip ?? branch ?? (await lostTip(context, place)) ?? (await context.target());
  await moveRefs(context, [
    { ref: place.branchRef, to: start },
    { ref: place.tipRef, to: start },
  ]);
  await rename(place.path, aside);
  try {
    await context.shared(() =>
      context
        .git(['worktree', 'add', '-q', '--no-checkout', place.path, place.branch])
        .catch((e) => refuseAdd(e, place)),
    );
    await rm(place.path, { recursive: true, force: true });
  } finally {
    await rename(aside, place.path);
  }
  notes.push('git had lost the worktree; it was registered again');
  const admin = await findAdmin(context, place);
  if (!admin) throw new AppError('git_failed', `git did not register the worktree ${place.path}`);
  if (await isThere(place.index)) await copyIndex(place.index, join(admin, 'index'));
  return admin;
}

/**
 * Leftovers of operations that an agent or a killed git began; with HEAD on the branch they would only confuse the
 * next.
 */
const UNFINISHED = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'MERGE_RR',
  'AUTO_MERGE',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'SQUASH_MSG',
  'BISECT_LOG',
  'BISECT_START',
  'BISECT_NAMES',
  'BISECT_EXPECTED_REV',
  'BISECT_TERMS',
  'HEAD.lock',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

export async function dropUnfinished(place: RegisteredWorktree): Promise<void> {
  const there = new Set(await readdir(place.admin));
  const left = UNFINISHED.filter((name) => there.has(name));
  await Promise.all(left.map((name) => rm(join(place.admin, name), { recursive: true, force: true })));
}

/** Puts HEAD on the branch without touching a file. */
export async function attachHead(context: GitContext, place: RegisteredWorktree): Promise<boolean> {
  if ((await headOf(place)) === `ref: ${place.branchRef}`) return false;
  await rm(join(place.admin, 'HEAD.lock'), { force: true });
  await context.gitAt(place)(['symbolic-ref', 'HEAD', place.branchRef]);
  return true;
}

export const headOf = async (place: RegisteredWorktree): Promise<string> =>
  (await readFile(join(place.admin, 'HEAD'), 'utf8').catch(() => '')).trim();

/** Writes the agent's index to match the engine's. Returns whether a stale lock was removed. */
export async function handOverIndex(context: GitContext, place: RegisteredWorktree): Promise<boolean> {
  const lock = join(place.admin, 'index.lock');
  const hadLock = (await isThere(lock)) && (await clearStaleLock(lock, context.clock));
  await copyIndex(place.index, join(place.admin, 'index'));
  await stampAgentIndex(context, place);
  return hadLock;
}

/**
 * Keeps the file's time: git compares it with the files' to know which of them it must read again. Never creates a
 * folder: a moved repository must be able to return to its path.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const temporary = `${to}.copy`;
  await copyFile(from, temporary);
  const { atimeMs, mtimeMs } = await stat(from);
  await utimes(temporary, atimeMs / 1000, Math.floor(mtimeMs) / 1000);
  await rename(temporary, to);
}

export async function stampOf(index: string): Promise<string> {
  const found = await stat(index).catch(() => null);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

const indexStamp = (place: RegisteredWorktree): Promise<string> => stampOf(join(place.admin, 'index'));

async function stampAgentIndex(context: GitContext, place: RegisteredWorktree): Promise<void> {
  context.indexStamps.set(place.name, await indexStamp(place));
}

export async function hasAgentStaged(context: GitContext, place: RegisteredWorktree): Promise<boolean> {
  return context.indexStamps.get(place.name) !== (await indexStamp(place));
}

/** A file or a symbolic link. */
export const isPlain = (path: Buffer): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isFile() || found.isSymbolicLink(),
    () => false,
  );

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
