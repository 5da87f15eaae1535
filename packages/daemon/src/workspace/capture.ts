import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainText } from '@tidemill/contract';
import { isGitlink, nulList, type RawChange, rawChanges } from '../git/output.ts';
import type { Captured } from '../ports.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { isAncestor, moveRefs, type RefChange } from './ref.ts';
import { attachHead, dropUnfinished, handOverIndex, isThere } from './registered-worktree.ts';
import { moveTo, putBack, strayCommits, tipOf } from './snapshot.ts';
import { writeSnapshot } from './snapshot-refs.ts';
import { takeOverLinks } from './submodule-links.ts';
import { type Staged, stage } from './tree.ts';

/**
 * Commits the current files on top of the engine's tip, whatever an agent did to HEAD, branch or index. The agent's own
 * commits are snapshotted, and the branch continues from the engine's tip.
 */
export async function captureWork(
  context: GitContext,
  place: RegisteredWorktree,
  message: string,
  notes: string[],
): Promise<Captured> {
  if (await isThere(place.marker)) {
    const kept = await putBack(context, place, 'the worktree showed a candidate when its work was to be committed');
    notes.push(`the worktree was not on its branch and was restored${kept ? `; its files are saved at ${kept}` : ''}`);
  }
  const [{ tip, tree: before }, target] = await Promise.all([tipOf(context, place), context.target()]);
  const merged = await mergedTarget(context, place, tip, target);
  if (merged) await takeOverLinks(context, place, [tip, merged]);
  const [staged, strays] = await Promise.all([
    stage(context, place, place.index, tip),
    strayCommits(context, place, tip),
  ]);
  notes.push(...staged.notes);
  const isSame = staged.tree === before && !merged;
  const [commit, changes] = await Promise.all([
    isSame ? tip : commitTree(context, staged.tree, merged ? [tip, merged] : [tip], message),
    // A merge of the target must be committed before its base is known.
    merged ? [] : context.mergeBase(tip, target).then((base) => changesBetween(context, base, staged.tree)),
  ]);
  const settled = settleRefs(context, place, { tip, commit, strays }, notes);
  const [hadLock] = await Promise.all([handOverIndex(context, place), settled]);
  if (hadLock) notes.push('a stale index.lock was removed');
  if (!merged) {
    // One parent, and not in the target: the base is the parent's base.
    await context.learnMergeBase(commit, target, await context.mergeBase(tip, target));
    return finish(commit, staged, changes, notes);
  }
  const since = await changesBetween(context, await context.mergeBase(commit, target), staged.tree);
  notes.push(...(await markerNotes(context, commit, since)));
  return finish(commit, staged, since, notes);
}

/** Commits a tree that a gate fixed, and checks it out in the worktree. The work was committed just before. */
export async function amendWork(
  context: GitContext,
  place: RegisteredWorktree,
  tree: string,
  message: string,
): Promise<Captured> {
  const { tip } = await tipOf(context, place);
  const [commit, target] = await Promise.all([commitTree(context, tree, [tip], message), context.target()]);
  await moveTo(context, place, { commit, attached: true }, 'uncommitted files before a fix by a gate');
  await moveRefs(context, [{ ref: place.tipRef, to: commit, from: tip }]);
  const base = await context.mergeBase(commit, target);
  return finish(commit, { tree, refused: [] }, await changesBetween(context, base, tree), []);
}

const finish = (
  commit: string,
  { tree, refused }: Omit<Staged, 'notes'>,
  changes: RawChange[],
  notes: string[],
): Captured => ({
  commit,
  tree,
  files: changes.map(({ path }) => path),
  notes: [...notes, ...refused, ...linkNotes(changes)],
  refused,
});

export async function commitTree(
  context: GitContext,
  tree: string,
  parents: string[],
  message: string,
): Promise<string> {
  const from = parents.flatMap((parent) => ['-p', parent]);
  return (await context.git(['commit-tree', tree, ...from], { input: plainText(message) })).stdout.trim();
}

/** The differences of two trees or commits. Cached: they never change, and each landing needs them three times. */
export async function changesBetween(context: GitContext, from: string, to: string): Promise<RawChange[]> {
  const [a, b] = await context.resolver.resolve([`${from}^{tree}`, `${to}^{tree}`]);
  if (a === b) return [];
  return context.changes(`${a} ${b}`, async () => {
    const { stdout } = await context.git(['diff-tree', '-r', '-z', '--raw', '--no-renames', a ?? from, b ?? to]);
    return rawChanges(stdout);
  });
}

/**
 * The target commit whose merge this capture completes, if any: an open merge (MERGE_HEAD), or one that the agent
 * committed on top of the tip. Moving HEAD to the target in other ways (`reset --soft`) does not count: it merges no
 * changes, and a merge commit would revert them.
 */
export async function mergedTarget(
  context: GitContext,
  place: RegisteredWorktree,
  tip: string,
  target: string,
): Promise<string | null> {
  const open = (await readFile(join(place.admin, 'MERGE_HEAD'), 'utf8').catch(() => '')).split('\n')[0]?.trim();
  if (open && /^[0-9a-f]{40,64}$/.test(open)) {
    const isTargets = (await isAncestor(context.git, open, target)) && !(await isAncestor(context.git, open, tip));
    return isTargets ? open : null;
  }
  const name = place.admin.slice(context.info.commonDir.length + 1);
  const [head] = await context.resolver.resolve([`${name}/HEAD^{commit}`]);
  if (!head || head === tip || !(await isAncestor(context.git, tip, head))) return null;
  const shared = await context.mergeBase(head, target);
  return (await isAncestor(context.git, shared, tip)) ? null : shared;
}

async function settleRefs(
  context: GitContext,
  place: RegisteredWorktree,
  { tip, commit, strays }: { tip: string; commit: string; strays: string[] },
  notes: string[],
): Promise<void> {
  if (strays.length > 0) {
    const [tree] = await context.resolver.resolve([`${strays[0]}^{tree}`]);
    const why = 'commits an agent made itself, or switched to';
    const ref = await writeSnapshot(context, place, { tree: tree!, parents: strays, why });
    notes.push(`the agent committed or switched branches; its files are used, its commits are saved at ${ref}`);
  }
  const [branch] = await context.resolver.resolve([place.branchRef]);
  const changes: RefChange[] = [];
  if (branch !== commit) changes.push({ ref: place.branchRef, to: commit });
  if (commit !== tip) changes.push({ ref: place.tipRef, to: commit, from: tip });
  if (changes.length > 0) await moveRefs(context, changes);
  await dropUnfinished(place);
  if ((await attachHead(context, place)) && strays.length === 0)
    notes.push('HEAD was not on the branch; it was restored');
}

const linkNotes = (changes: RawChange[]): string[] =>
  changes
    .filter(isGitlink)
    .map(({ path }) => `the submodule ${path} changed; only the reference is committed, push its own commits yourself`);

/** An open merge is committed with the current files. The reviewer gets a note about remaining markers. */
async function markerNotes(context: GitContext, commit: string, changes: RawChange[]): Promise<string[]> {
  const paths = changes.filter(({ status }) => status !== 'D').map(({ path }) => path);
  if (paths.length === 0 || paths.length > 500) return [];
  const { stdout } = await context.git(
    ['--literal-pathspecs', 'grep', '-z', '-l', '-I', '-E', '^(<<<<<<< |>>>>>>> )', commit, '--', ...paths],
    { answers: [1] },
  );
  const files = nulList(stdout).map((name) => name.slice(commit.length + 1));
  return files.length > 0 ? [`conflict markers remain in ${files.join(', ')}`] : [];
}
