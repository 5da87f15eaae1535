import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { nulList } from '../git/output.ts';
import { type Git, GitError, gitWith } from '../git/program.ts';
import type { GitContext, TaskPaths } from './git-context.ts';

/** A folder whose content is a commit of another repository. */
interface Link {
  path: string;
  commit: string;
}

const GITLINK = '160000 commit ';
/** Submodules in submodules in submodules. */
const DEEPEST = 5;
/**
 * A file of a submodule may ask for a filter, and the person's configuration would name its program. Without any
 * configuration nothing runs: git only writes files.
 */
const NO_SETTINGS = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

type Folder = Pick<TaskPaths, 'name' | 'path'>;

const ownFolder = (context: Pick<GitContext, 'dataDir'>, { name }: Pick<TaskPaths, 'name'>) =>
  join(context.dataDir, 'submodules', name);

export interface Filled {
  /** Submodules with files now. */
  paths: string[];
  /** Submodules that stay empty: the person has not initialised them, or not fetched the commit. */
  empty: string[];
}

/**
 * Writes the files of the submodules that the person has initialised, from the objects below `.git/modules`. Nothing is
 * fetched. `.gitmodules` is not read, because a change may contain any command or address there: the person's own
 * checkout says where the objects are. `isExact`: also undoes what was changed in them.
 */
export async function fillSubmodules(
  context: GitContext,
  place: Folder,
  commit: string,
  { isExact }: { isExact: boolean },
): Promise<Filled> {
  const filled: Filled = { paths: [], empty: [] };
  const [list] = await context.resolver.resolve([`${commit}:.gitmodules`]);
  if (list) await fillAll(context, place, { git: context.git, commit, prefix: '', depth: 0 }, isExact, filled);
  return filled;
}

interface Outer {
  git: Git;
  commit: string;
  /** Its own path, with a slash at the end. */
  prefix: string;
  depth: number;
}

async function fillAll(
  context: GitContext,
  place: Folder,
  outer: Outer,
  isExact: boolean,
  filled: Filled,
): Promise<void> {
  for (const { path: below, commit } of await linksIn(outer.git, outer.commit)) {
    const path = outer.prefix + below;
    const objects = await objectsOf(context, path);
    const folder = (await isOwnFolder(place.path, path)) ? join(place.path, path) : null;
    const git = objects && folder && (await openOwn(context, place, { path, commit }, { objects, folder }));
    if (!git || !(await show(git, { folder, commit }, isExact))) {
      filled.empty.push(path);
      continue;
    }
    filled.paths.push(path);
    const inner = { git, commit, prefix: `${path}/`, depth: outer.depth + 1 };
    if (inner.depth < DEEPEST) await fillAll(context, place, inner, isExact, filled);
  }
}

async function linksIn(git: Git, commit: string): Promise<Link[]> {
  const { stdout } = await git(['ls-tree', '-r', '-z', commit]);
  return nulList(stdout).flatMap((line) => {
    if (!line.startsWith(GITLINK)) return [];
    const tab = line.indexOf('\t');
    return [{ commit: line.slice(GITLINK.length, tab), path: line.slice(tab + 1) }];
  });
}

/** The objects of a submodule of the person's checkout, if they are where git puts them. */
async function objectsOf({ info }: GitContext, path: string): Promise<string | null> {
  if (!(await isOwnFolder(info.root, path))) return null;
  const file = join(info.root, path, '.git');
  const found = await lstat(file).catch(() => null);
  const said = found?.isFile() ? /^gitdir: (.+?)\s*$/.exec(await readFile(file, 'utf8'))?.[1] : undefined;
  const named = said === undefined ? (found?.isDirectory() ? file : null) : resolve(dirname(file), said);
  const place = named && (await realpath(named).catch(() => null));
  if (!place || /[\n\r]/.test(place)) return null;
  const isModule = place.startsWith(info.commonDir + sep) && place.split(sep).includes('modules');
  return isModule || place === file ? join(place, 'objects') : null;
}

/** A folder, reached through folders only: an agent may have put a link there, which leads elsewhere. */
async function isOwnFolder(root: string, path: string): Promise<boolean> {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if (!(await lstat(at).catch(() => null))?.isDirectory()) return false;
  }
  return true;
}

/** git with a folder of ours for index and settings, and with objects that are only read. Null: the commit is not there. */
async function openOwn(
  context: GitContext,
  place: Folder,
  { path, commit }: Link,
  { objects, folder }: { objects: string; folder: string },
): Promise<Git | null> {
  const own = join(ownFolder(context, place), createHash('sha256').update(path).digest('hex').slice(0, 16));
  await Promise.all(['objects/info', 'refs', 'info'].map((name) => mkdir(join(own, name), { recursive: true })));
  const format = commit.length > 40 ? '\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n' : '';
  await Promise.all([
    writeFile(join(own, 'config'), `[core]\n\tbare = false\n${format}`),
    writeFile(join(own, 'objects/info/alternates'), `${objects}\n`),
    readFile(join(own, 'HEAD')).catch(() => writeFile(join(own, 'HEAD'), 'ref: refs/heads/none\n')),
    // Only a git that was ended leaves it: one process uses this folder, and one call at a time.
    rm(join(own, 'index.lock'), { force: true }),
  ]);
  const git = gitWith({ cwd: folder, env: { ...NO_SETTINGS, GIT_DIR: own, GIT_WORK_TREE: folder } });
  const { code } = await git(['cat-file', '-e', `${commit}^{tree}`], { answers: [1, 128] });
  return code === 0 ? git : null;
}

async function show(git: Git, at: { folder: string; commit: string }, isExact: boolean): Promise<boolean> {
  const names = await readdir(at.folder);
  const { stdout } = await git(['rev-parse', '-q', '--verify', 'HEAD'], { answers: [1, 128] });
  const isThere = names.length > 0 && stdout.trim() === at.commit;
  // Work in it stays where it is. Only a repository that somebody made there is not ours to change.
  if (!isExact && (isThere || names.includes('.git'))) return true;
  try {
    if (isExact) await rm(join(at.folder, '.git'), { recursive: true, force: true });
    if (names.length === 0) await git(['read-tree', '--empty']);
    await git(['reset', '-q', '--hard', at.commit]);
    await git(['update-ref', '--no-deref', 'HEAD', at.commit]);
    if (isExact) await git(['clean', '-ffdxq']);
    return true;
  } catch (error) {
    // Objects are missing, as in a partial clone.
    if (!(error instanceof GitError) || error.code === 'disk_full') throw error;
    return false;
  }
}

export const forgetSubmodules = (context: Pick<GitContext, 'dataDir'>, place: Pick<TaskPaths, 'name'>): Promise<void> =>
  rm(ownFolder(context, place), { recursive: true, force: true });
