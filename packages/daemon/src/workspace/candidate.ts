import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { type Merged, mergeTreeOutput } from '../git/output.ts';
import type { Candidate } from '../ports.ts';
import { lostTip } from './branch-tips.ts';
import { changesBetween, commitTree } from './capture.ts';
import type { GitContext, RegisteredWorktree, TaskPaths } from './git-context.ts';
import { isAncestor, moveRefs, NOTHING } from './ref.ts';
import { handOverIndex } from './registered-worktree.ts';
import { moveTo, putBack, tipOf } from './snapshot.ts';

export async function branchTip(context: GitContext, place: TaskPaths): Promise<string> {
  const [tip, branch] = await context.resolver.resolve([`${place.tipRef}^{commit}`, `${place.branchRef}^{commit}`]);
  const found = tip ?? branch ?? (await lostTip(context, place));
  if (found) return found;
  throw new AppError('not_found', `task #${place.number} has no branch ${place.branch}`, {
    hint: 'Open the task first.',
  });
}

/** A merge in the object database only: no file, index or ref is changed. */
export async function dryRun(context: GitContext, place: TaskPaths, onto?: string): Promise<Candidate> {
  const [tip, base] = await Promise.all([branchTip(context, place), onto ?? context.target()]);
  const merged =
    (await context.mergeBase(tip, base)) === base
      ? { tree: await treeOf(context, tip), conflicts: [] }
      : await mergeOnPaper(context, base, tip);
  if (merged.conflicts.length > 0) return { kind: 'conflict', base, files: merged.conflicts };
  const changes = await changesBetween(context, base, merged.tree);
  if (changes.length === 0) return { kind: 'empty', base };
  return { kind: 'clean', tree: merged.tree, base, files: changes.map(({ path }) => path) };
}

export async function treeOf(context: GitContext, commit: string): Promise<string> {
  const [tree] = await context.resolver.resolve([`${commit}^{tree}`]);
  if (tree) return tree;
  throw new AppError('git_failed', `the commit ${commit} is not in the repository`);
}

export async function mergeOnPaper(context: GitContext, ours: string, theirs: string): Promise<Merged> {
  const { code, bytes } = await context.git(['merge-tree', '--write-tree', '-z', ours, theirs], { answers: [1] });
  const merged = mergeTreeOutput(bytes);
  if (code === 0) return { ...merged, stages: [], conflicts: [] };
  // Exit code 1 without a file name (a folder in place of a file) is also a conflict.
  return merged.conflicts.length > 0 ? merged : { ...merged, conflicts: ['(a conflict without a file name)'] };
}

/** The commit to land. It always has exactly the tree that was checked. */
export async function sealCandidate(
  context: GitContext,
  place: TaskPaths,
  { tree, base }: { tree: string; base: string },
  message: string,
): Promise<string> {
  const how = context.options.landing;
  if (how === 'merge') return commitTree(context, tree, [base, await branchTip(context, place)], message);
  if (how === 'rebase') {
    const replayed = await replay(context, base, await branchTip(context, place));
    // If a rebase does not result in exactly the checked tree, the history is squashed into one commit.
    if (replayed && replayed.tree === tree) return commitTree(context, tree, [replayed.parent], message);
  }
  return commitTree(context, tree, [base], message);
}

/**
 * Rebases the branch's commits one by one onto `base`, without a worktree. Each is merged with a helper commit that has
 * the new base's files and the picked commit's parent, which equals a cherry-pick. Returns the parent of the last
 * commit and the final tree, or null when a commit does not apply.
 */
async function replay(
  context: GitContext,
  base: string,
  tip: string,
): Promise<{ parent: string; tree: string } | null> {
  const range = `${await context.mergeBase(tip, base)}..${tip}`;
  const { stdout } = await context.git(['rev-list', '--first-parent', '--reverse', range]);
  const picks: { tree: string; commit: string }[] = [];
  let tree = await treeOf(context, base);
  for (const commit of stdout.split('\n').filter((line) => line !== '')) {
    const standIn = await commitTree(context, tree, [`${commit}^1`], 'stand-in');
    const merged = await mergeOnPaper(context, standIn, commit);
    if (merged.conflicts.length > 0) return null;
    if (merged.tree !== tree) picks.push({ tree: merged.tree, commit });
    tree = merged.tree;
  }
  let parent = base;
  for (const pick of picks.slice(0, -1)) {
    const { stdout: text } = await context.git(['show', '-s', '--format=%B', pick.commit]);
    parent = await commitTree(context, pick.tree, [parent], text);
  }
  return { parent, tree };
}

/**
 * Merges the newest target into the worktree. Conflicts stay in the files, for an agent to resolve. The merge is
 * computed in the object database and then written, because `git merge` would enter nested repositories and run their
 * hooks and filters.
 */
export async function mergeTargetInto(context: GitContext, place: RegisteredWorktree): Promise<{ files: string[] }> {
  await putBack(context, place, 'uncommitted work before the target was merged');
  const [{ tip }, target] = await Promise.all([tipOf(context, place), context.target()]);
  const base = await context.mergeBase(tip, target);
  if (base === target) return { files: [] };
  const text = `Merge ${context.options.target} into ${place.branch}`;
  const merged = base === tip ? null : await mergeOnPaper(context, place.branch, target);
  if (merged && merged.conflicts.length > 0) return openInWorktree(context, place, target, merged, text);
  const commit = merged ? await commitTree(context, merged.tree, [tip, target], text) : target;
  await moveTo(context, place, { commit, attached: true }, 'the target was merged');
  await moveRefs(context, [{ ref: place.tipRef, to: commit, from: tip }]);
  return { files: [] };
}

/**
 * Implements `Workspace.followMerge`. A squashed commit does not say what it contains, so a merge would take the same lines
 * for two changes. A helper commit says it: it has the files of the merged commit and both as its parents.
 *
 *   head ──────────▶ tip ──▶ joined        target: ──▶ commit
 *     └──▶ helper ◀── commit    ▲
 *             └─────────────────┘
 */
export async function followMerge(
  context: GitContext,
  place: RegisteredWorktree,
  { head, commit }: { head: string; commit: string },
): Promise<void> {
  await putBack(context, place, 'uncommitted work before the merged pull request was taken in');
  const [{ tip }, [known]] = await Promise.all([tipOf(context, place), context.resolver.resolve([`${head}^{commit}`])]);
  const isDone = await isAncestor(context.git, commit, tip);
  if (isDone || !known || !(await isAncestor(context.git, head, tip))) return;
  const isPlain = await isAncestor(context.git, head, commit);
  const helper = isPlain
    ? commit
    : await commitTree(context, await treeOf(context, commit), [head, commit], `${place.branch} was merged`);
  const merged = await mergeOnPaper(context, tip, helper);
  if (merged.conflicts.length > 0) return;
  const joined = await commitTree(context, merged.tree, [tip, helper], `Merge what landed of ${place.branch}`);
  await moveTo(context, place, { commit: joined, attached: true }, 'the merged pull request was taken in');
  await moveRefs(context, [{ ref: place.tipRef, to: joined, from: tip }]);
}

/** Creates the state that `git merge` leaves: files with markers, an index with the stages, and MERGE_HEAD. */
async function openInWorktree(
  context: GitContext,
  place: RegisteredWorktree,
  target: string,
  { tree, stages, conflicts }: Merged,
  text: string,
): Promise<{ files: string[] }> {
  if (stages.length === 0)
    throw new AppError('git_failed', `the target could not be merged into #${place.number}: ${conflicts.join(', ')}`);
  await writeFile(place.marker, 'moving');
  await handOverIndex(context, place);
  const git = context.gitAt(place, join(place.admin, 'index'));
  await git(['read-tree', '-u', '--reset', tree]);
  const paths = new Set(stages.map((stage) => stage.slice(stage.indexOf('\t') + 1)));
  const removed = [...paths].map((path) => `0 ${NOTHING}\t${path}\0`).join('');
  const input = Buffer.from(removed + stages.map((stage) => `${stage}\0`).join(''), 'latin1');
  await git(['update-index', '-z', '--index-info'], { input });
  const state = { MERGE_MSG: `${text}\n`, MERGE_MODE: '', AUTO_MERGE: `${tree}\n`, MERGE_HEAD: `${target}\n` };
  for (const [name, content] of Object.entries(state)) await writeFile(join(place.admin, name), content);
  await rm(place.marker, { force: true });
  return { files: conflicts };
}
