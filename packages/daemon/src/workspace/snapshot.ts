import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { AppError } from '@tidemill/contract';
import { lostTip } from './branch-tips.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { moveRefs } from './ref.ts';
import { dropUnfinished, handOverIndex, hasAgentStaged, headOf, isThere } from './registered-worktree.ts';
import { notContained, writeSnapshot } from './snapshot-refs.ts';
import { clearStaleLock } from './stale-lock.ts';
import { withStagedCopy } from './tree.ts';

/** The engine's tip of the branch. For a branch without one (created before the task), the branch itself. */
export async function tipOf(context: GitContext, place: RegisteredWorktree): Promise<{ tip: string; tree: string }> {
  const [tip, tree, branch, branchTree] = await context.resolver.resolve(
    [place.tipRef, place.branchRef].flatMap((ref) => [`${ref}^{commit}`, `${ref}^{tree}`]),
  );
  if (tip && tree) return { tip, tree };
  const lost = branch && branchTree ? null : await lostTip(context, place);
  if (lost) {
    await moveRefs(
      context,
      [place.tipRef, place.branchRef].map((ref) => ({ ref, to: lost })),
    );
    return tipOf(context, place);
  }
  if (!branch || !branchTree) {
    throw new AppError('git_failed', `the branch ${place.branch} is gone`, {
      hint: 'Open the task again to create it.',
    });
  }
  await moveRefs(context, [{ ref: place.tipRef, to: branch }]);
  return { tip: branch, tree: branchTree };
}

/** The commit that the engine checked out: the branch's tip, or a candidate. */
async function expected(place: RegisteredWorktree, tip: string): Promise<string> {
  const shown = await readFile(place.marker, 'utf8').catch(() => '');
  return /^[0-9a-f]{40,64}$/.test(shown) ? shown : tip;
}

/** Fast path with one git call: nothing staged, changed or new, and HEAD unchanged. */
export async function isUntouched(context: GitContext, place: RegisteredWorktree, tip: string): Promise<boolean> {
  if (!(await isThere(place.index)) || (await hasAgentStaged(context, place))) return false;
  const commit = await expected(place, tip);
  const head = await headOf(place);
  if (head !== `ref: ${place.branchRef}` && head !== commit) return false;
  const options = ['--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=all'];
  const { stdout } = await context.gitAt(place)(['status', ...options]);
  const fields = stdout.split('\0').filter((field) => field !== '');
  return fields.every((field) => field.startsWith('# ')) && fields.includes(`# branch.oid ${commit}`);
}

/** Commits an agent left on HEAD or the branch that the engine's tip does not have. */
export async function strayCommits(context: GitContext, place: RegisteredWorktree, tip: string): Promise<string[]> {
  const names = [
    `worktrees/${place.admin.slice(context.info.commonDir.length + '/worktrees/'.length)}/HEAD`,
    place.branchRef,
  ];
  const found = (await context.resolver.resolve(names.map((name) => `${name}^{commit}`))).filter((oid) => oid !== null);
  const shown = await expected(place, tip);
  return notContained(
    context,
    tip,
    found.filter((oid) => oid !== shown),
  );
}

/** Saves the differences from the engine's commit. Null when there are none. The worktree is not changed. */
export async function takeSnapshot(
  context: GitContext,
  place: RegisteredWorktree,
  why: string,
): Promise<string | null> {
  const { tip } = await tipOf(context, place);
  if (await isUntouched(context, place, tip)) return null;
  return withStagedCopy(context, place, tip, (staged) => saveStaged(context, place, tip, staged.tree, why));
}

async function saveStaged(
  context: GitContext,
  place: RegisteredWorktree,
  tip: string,
  tree: string,
  why: string,
): Promise<string | null> {
  const strays = await strayCommits(context, place, tip);
  const [plain] = await context.resolver.resolve([`${await expected(place, tip)}^{tree}`]);
  if (tree === plain && strays.length === 0) return null;
  return writeSnapshot(context, place, { tree, parents: [tip, ...strays], why });
}

/**
 * Checks out `commit` in the worktree, on the branch or detached. Only ignored files stay, and files that would be lost
 * are snapshotted. The marker exists meanwhile: after an interruption the worktree is restored before its files are
 * used.
 */
export async function moveTo(
  context: GitContext,
  place: RegisteredWorktree,
  to: { commit: string; attached: boolean },
  why: string,
): Promise<string | null> {
  const { tip } = await tipOf(context, place);
  let saved: string | null = null;
  if (await isUntouched(context, place, tip)) {
    await writeFile(place.marker, to.attached ? 'moving' : to.commit);
    await checkout(context, place, to, place.index);
  } else {
    saved = await withStagedCopy(context, place, tip, async (staged, index) => {
      const ref = await saveStaged(context, place, tip, staged.tree, why);
      await writeFile(place.marker, to.attached ? 'moving' : to.commit);
      await dropUnfinished(place);
      await checkout(context, place, to, index);
      await rename(index, place.index);
      return ref;
    });
  }
  await handOverIndex(context, place);
  if (to.attached) await rm(place.marker, { force: true });
  return saved;
}

/** Uses an index with every file of the worktree, so that files that are not in the commit are removed. */
async function checkout(
  context: GitContext,
  place: RegisteredWorktree,
  to: { commit: string; attached: boolean },
  index: string,
): Promise<void> {
  await clearStaleLock(`${index}.lock`, context.clock);
  const where = to.attached
    ? ['--no-track', '--ignore-other-worktrees', '-B', place.branch, to.commit]
    : ['--detach', to.commit];
  await context.gitAt(place, index)(['checkout', '-q', '-f', ...where]);
}

/** Resets to the engine's tip of the branch. Usually there is nothing to do, and one git call finds that out. */
export async function putBack(context: GitContext, place: RegisteredWorktree, why: string): Promise<string | null> {
  const { tip } = await tipOf(context, place);
  const isMoved = (await isThere(place.marker)) || (await headOf(place)) !== `ref: ${place.branchRef}`;
  await dropUnfinished(place);
  if (!isMoved && (await isUntouched(context, place, tip))) return null;
  return moveTo(context, place, { commit: tip, attached: true }, why);
}
