import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type StatusEntry, statusEntries } from '../git/output.ts';
import { type Git, gitWith } from '../git/program.ts';
import type { GitContext } from './git-context.ts';
import { isThere, worktreeOf } from './registered-worktree.ts';
import { reallyChanged } from './unnormalised-files.ts';

/** A person's checkout of the target branch. Tidemill only fast-forwards it, and only when it is clean. */
export interface Checkout {
  path: string;
  gitDir: string;
  git: Git;
}

/** All checkouts of the target, also one with a rebase in progress, which detaches HEAD. */
export async function checkoutsOnTarget(context: GitContext): Promise<Checkout[]> {
  const linked = join(context.info.commonDir, 'worktrees');
  const places: { path: string; gitDir: string }[] = [];
  if (context.info.mainCheckout) places.push({ path: context.info.mainCheckout, gitDir: context.info.commonDir });
  for (const name of await readdir(linked).catch(() => [])) {
    const path = await worktreeOf(join(linked, name));
    if (path && !path.startsWith(context.dataDir + sep)) places.push({ path, gitDir: join(linked, name) });
  }
  const found = await Promise.all(
    places.map(async (at) => (await holdsTarget(context, at.gitDir)) && (await isThere(at.path)) && at),
  );
  return found
    .filter((at) => at !== false)
    .map((at) => ({ ...at, git: gitWith({ cwd: at.path, env: { GIT_DIR: at.gitDir, GIT_WORK_TREE: at.path } }) }));
}

async function holdsTarget(context: GitContext, gitDir: string): Promise<boolean> {
  const files = ['HEAD', 'rebase-merge/head-name', 'rebase-apply/head-name'];
  const texts = await Promise.all(files.map((file) => readFile(join(gitDir, file), 'utf8').catch(() => '')));
  return texts.some((text) => text.trim().replace(/^ref: /, '') === context.targetRef);
}

const IN_PROGRESS: [string, string][] = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
];

const TO_CONTINUE = 'so that landing can continue';

/** A person changes these on the page or in an editor while work lands. No task may change them. */
const SETTINGS = '.tidemill/';

/**
 * Why this checkout cannot be fast-forwarded now, or null. `entries` are its uncommitted changes, if any. Changed settings
 * are no obstacle unless the landing touches them as well.
 */
export async function obstacleIn(
  checkout: Checkout,
  touched: ReadonlySet<string> = new Set(),
): Promise<{ why: string; entries: StatusEntry[] } | null> {
  const there = new Set(await readdir(checkout.gitDir));
  if (there.has('index.lock')) return { why: lockedText(checkout), entries: [] };
  const running = IN_PROGRESS.find(([name]) => there.has(name));
  if (running) {
    return { why: `in ${checkout.path} ${running[1]} is in progress; finish or abort it ${TO_CONTINUE}`, entries: [] };
  }
  // A fast-forward does not touch a changed submodule, so it is no obstacle.
  const { stdout } = await checkout.git(['status', '--porcelain=v1', '-z', '-uno', '--ignore-submodules=all']);
  const dirty = statusEntries(stdout).filter(({ path }) => !path.startsWith(SETTINGS) || touched.has(path));
  const entries = await reallyChanged(checkout.git, checkout.path, dirty);
  if (entries.length > 0) return { why: dirtyText(checkout, entries), entries };
  // git itself takes them for changed and does not overwrite them.
  const unconverted = dirty.filter(({ path }) => touched.has(path));
  return unconverted.length > 0 ? { why: unconvertedText(checkout, unconverted), entries: unconverted } : null;
}

export const lockedText = (checkout: Checkout): string =>
  `in ${checkout.path} another git command holds ${join(checkout.gitDir, 'index.lock')}; landing continues when it ends (if no git command is running, remove that file)`;

export const untrackedText = (checkout: Checkout, files: string[]): string =>
  `in ${checkout.path} ${named(files)} would be overwritten and git does not track ${files.length > 1 ? 'them' : 'it'}; move or commit ${files.length > 1 ? 'them' : 'it'} ${TO_CONTINUE}`;

export const dirtyText = (checkout: Checkout, entries: Pick<StatusEntry, 'path'>[]): string => {
  const files = entries.map(({ path }) => path);
  const [have, them] = files.length > 1 ? ['have', 'them'] : ['has', 'it'];
  return `in ${checkout.path} ${named(files)} ${have} uncommitted changes; commit, stash or discard ${them} ${TO_CONTINUE}`;
};

const unconvertedText = (checkout: Checkout, entries: StatusEntry[]): string => {
  const stored = `${entries.length > 1 ? 'are' : 'is'} stored otherwise than .gitattributes says`;
  return `in ${checkout.path} ${named(entries.map(({ path }) => path))} ${stored}; run \`git add --renormalize .\` and commit ${TO_CONTINUE}`;
};

function named(files: string[]): string {
  const [first = 'something', second] = files;
  if (files.length <= 1) return first;
  return files.length === 2 ? `${first} and ${second}` : `${first} and ${files.length - 1} more files`;
}
