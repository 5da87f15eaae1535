import { lstat, rm } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import type { CutText } from '@tidemill/contract';
import { nulList } from '../git/output.ts';
import { type Git, GitError } from '../git/program.ts';
import type { Workspace } from '../ports.ts';
import { changesBetween } from './capture.ts';
import { type ChangeLimits, readChange } from './file-changes.ts';
import type { GitContext, TaskPaths } from './git-context.ts';
import { copyIndex, findAdmin, isThere } from './registered-worktree.ts';
import { EMPTY_BLOB, findOpened } from './tree.ts';

/** Where a change can be read: what git compares, and the folder of the new side if that is not in the repository. */
export interface Compared {
  git: Git;
  revisions: string[];
  worktree: string | null;
}
type Read<T> = (compared: Compared) => Promise<T>;

/**
 * Reads a task's current change, including uncommitted files. Null when there is none. It takes no lock and writes only
 * a separate index, so that reading never blocks or changes the work.
 */
export async function readWork<T>(context: GitContext, place: TaskPaths, read: Read<T>): Promise<T | null> {
  const names = [place.tipRef, place.branchRef].map((ref) => `${ref}^{commit}`);
  const [own, branch] = await context.resolver.resolve(names);
  const tip = own ?? branch;
  if (!tip) return null;
  const base = await context.mergeBase(tip, await context.target());
  try {
    const found = await readFiles(context, place, { tip, base }, read);
    if (found) return found.value;
  } catch (error) {
    // The worktree may be removed or recreated at this moment. Committed work is always available.
    if (!(error instanceof GitError)) throw error;
  }
  return read({ git: context.git, revisions: [base, tip], worktree: null });
}

/** Reads what a commit changed, against its first parent; null when the repository does not have it. */
export async function readCommit<T>(context: GitContext, commit: string, read: Read<T>): Promise<T | null> {
  const [known, parent] = await context.resolver.resolve([`${commit}^{commit}`, `${commit}^1^{commit}`]);
  if (!known) return null;
  return read({ git: context.git, revisions: [parent ?? (await emptyTree(context.git)), known], worktree: null });
}

export const lookAtWork = (context: GitContext, place: TaskPaths, limits: ChangeLimits): Promise<CutText | null> =>
  readWork(context, place, (compared) => cutDiff(compared, limits));

export const lookAtCommit = (context: GitContext, commit: string, limits: ChangeLimits): Promise<CutText | null> =>
  readCommit(context, commit, (compared) => cutDiff(compared, limits));

/** Implements `Workspace.filesIn`. */
export async function filesIn(
  context: GitContext,
  commit: string,
  against: Parameters<Workspace['filesIn']>[1],
): Promise<string[]> {
  const [known, parent] = await context.resolver.resolve([`${commit}^{commit}`, `${commit}^1^{commit}`]);
  if (!known) return [];
  const base =
    typeof against === 'object'
      ? against.commit
      : against === 'base'
        ? await context.mergeBase(known, await context.target())
        : parent;
  return (await changesBetween(context, base ?? (await emptyTree(context.git)), known)).map(({ path }) => path);
}

/** Files of a commit that match one of the globs, with the hashes of their contents and their modes. */
export async function filesAt(
  context: GitContext,
  commit: string,
  globs: string[] | 'all',
): Promise<[string, string][]> {
  if (globs.length === 0) return [];
  const { stdout } = await context.git([
    'ls-tree',
    '-r',
    '-z',
    '--full-tree',
    '--format=%(objectname) %(objectmode)\t%(path)',
    commit,
  ]);
  const files = nulList(stdout).map((line): [string, string] => {
    const end = line.indexOf('\t');
    return [line.slice(end + 1), line.slice(0, end)];
  });
  if (globs === 'all') return files;
  return files.filter(([path]) => globs.some((glob) => path === glob || matchesGlob(path, glob)));
}

/** Of these names, the ones that git ignores in the person's checkout. */
export async function ignoredInCheckout(context: GitContext, files: string[]): Promise<string[]> {
  const input = files.map((file) => `${file}\0`).join('');
  const { stdout } = await context.git(['check-ignore', '-z', '--stdin'], {
    input,
    answers: [1],
    cwd: context.info.root,
    env: { GIT_WORK_TREE: context.info.root },
  });
  return nulList(stdout);
}

/** Null when the files are not the task's work: no worktree, or a candidate is checked out. */
async function readFiles<T>(
  context: GitContext,
  place: TaskPaths,
  { tip, base }: { tip: string; base: string },
  read: Read<T>,
): Promise<{ value: T } | null> {
  const admin = (await isThere(place.path)) && !(await isThere(place.marker)) ? await findAdmin(context, place) : null;
  if (!admin) return null;
  const index = join(context.dataDir, 'index', `look-${process.pid}-${context.next()}`);
  const git = context.gitAt({ ...place, admin }, index);
  try {
    if (await isThere(place.index)) await copyIndex(place.index, index);
    else await git(['read-tree', tip]);
    // Names new files without reading them into the repository: entries without content, so that git compares the
    // files.
    const { fresh } = await findOpened(git, place.path);
    const entries = fresh.map((path) => `100644 ${EMPTY_BLOB}\t${path}\0`).join('');
    const input = Buffer.from(entries, 'latin1');
    if (fresh.length > 0) await git(['update-index', '--add', '--replace', '-z', '--index-info'], { input });
    return { value: await read({ git, revisions: [base], worktree: place.path }) };
  } finally {
    await rm(index, { force: true });
  }
}

async function cutDiff({ git, revisions, worktree }: Compared, limits: ChangeLimits): Promise<CutText> {
  const sizeOf = worktree === null ? undefined : (path: string) => sizeIn(worktree, path);
  const { sections, isCut } = await readChange(git, revisions, limits, sizeOf);
  return { text: sections.join(''), isCut };
}

async function sizeIn(root: string, path: string): Promise<number> {
  try {
    return (await lstat(join(root, path))).size;
  } catch (error) {
    // Deleted, or gone since git has named it.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 0;
  }
}

/** What a repository's first commit is compared with. */
const emptyTree = async (git: Git) =>
  (await git(['hash-object', '-t', 'tree', '--stdin'], { input: '' })).stdout.trim();
