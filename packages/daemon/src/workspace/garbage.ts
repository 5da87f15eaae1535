import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gitWith } from '../git/program.ts';
import type { WorktreeRef } from '../ports.ts';
import { isOurs, nameOfBranch } from './branch-tips.ts';
import type { GitContext, TaskPaths } from './git-context.ts';
import { withoutNamedPipes } from './named-pipes.ts';
import { moveRefs, OWN_HEADS, type RefChange } from './ref.ts';
import { asideFolder, findAdmin, worktreeOf } from './registered-worktree.ts';
import { keepAsIs, writeSnapshot } from './snapshot-refs.ts';
import { forgetSubmodules } from './submodules.ts';
import type { Trash } from './trash.ts';
import { addAll } from './tree.ts';

/** Leftovers of a task that is no longer active. */
export interface Leak {
  name: string;
  branch: string;
  number: number;
  what: string[];
}

/**
 * Folders in our data folder, worktrees registered below it, and branches the engine made (it keeps a tip for each), as
 * far as they belong to no living task of ours. A branch without such a tip is a person's, whatever its name.
 */
export async function findLeaks(context: GitContext, alive: WorktreeRef[]): Promise<Leak[]> {
  const living = new Set(alive.map((task) => context.pathsOf(task).name));
  const leaks = new Map<string, Leak>();
  const found = (name: string, branch: string, what: string) => {
    if (living.has(name)) return;
    const leak = leaks.get(name) ?? { name, branch, number: numberOf(name), what: [] };
    leaks.set(name, { ...leak, branch: leak.branch || branch, what: [...leak.what, what] });
  };
  const folder = join(context.dataDir, 'worktrees');
  const linked = join(context.info.commonDir, 'worktrees');
  const { stdout } = await context.git(['for-each-ref', '--format=%(refname)', OWN_HEADS]);
  for (const ref of stdout.split('\n').filter((line) => line !== '')) {
    const branch = ref.slice(OWN_HEADS.length);
    const name = nameOfBranch(branch);
    // Another data folder may use this repository. Its branches are left alone.
    if (!living.has(name) && (await isOurs(context, name))) found(name, branch, `branch ${branch}`);
  }
  for (const name of await readdir(folder).catch(() => [])) found(name, '', `worktree ${join(folder, name)}`);
  for (const admin of await readdir(linked).catch(() => [])) {
    const path = await worktreeOf(join(linked, admin));
    if (path && dirname(path) === folder) found(basename(path), '', `registration ${join(linked, admin)}`);
  }
  return [...leaks.values()];
}

const numberOf = (name: string): number => Number(/^\d+/.exec(name)?.[0] ?? 0);

/** Removes the leftovers of one task, in an order that lets the next collection find the rest after a crash. */
export async function takeDown(context: GitContext, trash: Trash, place: TaskPaths, commits: string[]): Promise<void> {
  await trash.throwAway(place.path);
  await trash.throwAway(asideFolder(context, place));
  await context.shared(async () => {
    // Where a task could not be begun because its branch is another data folder's, that branch stays.
    const refs = (await isOurs(context, place.name)) ? [place.branchRef, place.tipRef] : [];
    const there = await context.resolver.resolve(refs);
    const changes: RefChange[] = commits.map((commit) => keepAsIs(context, place.number, commit));
    for (const [i, ref] of refs.entries()) if (there[i]) changes.push({ ref, to: null });
    if (changes.length > 0) await moveRefs(context, changes);
    const admin = await findAdmin(context, place);
    if (admin) await rm(admin, { recursive: true, force: true });
  });
  const leftovers = ['', '.lock', '.unsettled', '.look', '.look.lock', '.copy', '.resolved', '.tip', '.tip.new'].map(
    (ending) => `${place.index}${ending}`,
  );
  await Promise.all(leftovers.map((file) => rm(file, { force: true })));
  await forgetSubmodules(context, place);
  context.indexStamps.delete(place.name);
  context.indexTrees.delete(place.index);
}

/**
 * A folder whose registration is gone, or that never had one: its files, on a fresh index, are all there is to save.
 */
export async function snapshotFolder(
  context: GitContext,
  place: TaskPaths,
  parents: string[],
  why: string,
): Promise<string | null> {
  const index = join(context.dataDir, 'index', `${place.name}.look`);
  await Promise.all([index, `${index}.lock`].map((file) => rm(file, { force: true })));
  const env = { GIT_DIR: context.info.commonDir, GIT_WORK_TREE: place.path, GIT_INDEX_FILE: index };
  const git = withoutNamedPipes(gitWith({ cwd: place.path, env }), place.path);
  try {
    await addAll(git, place.path);
    const tree = (await git(['write-tree'])).stdout.trim();
    const known = await context.resolver.resolve(parents.map((parent) => `${parent}^{tree}`));
    if (known.includes(tree)) return null;
    return await writeSnapshot(context, place, { tree, parents, why });
  } finally {
    await rm(index, { force: true });
  }
}
