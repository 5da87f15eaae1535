import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { AppError } from '@tidemill/contract';
import { notContained, writeSnapshot } from './keep.ts';
import { lostTip } from './own-tip.ts';
import { moveRefs } from './ref.ts';
import type { Site, Standing } from './site.ts';
import { clearStaleLock } from './stale-lock.ts';
import { dropUnfinished, handOverIndex, hasAgentStaged, headOf, isThere } from './standing.ts';
import { withStagedCopy } from './tree.ts';

/** The engine's tip of the branch. For a branch without one (created before the task), the branch itself. */
export async function tipOf(site: Site, place: Standing): Promise<{ tip: string; tree: string }> {
  const [tip, tree, branch, branchTree] = await site.resolver.resolve(
    [place.tipRef, place.branchRef].flatMap((ref) => [`${ref}^{commit}`, `${ref}^{tree}`]),
  );
  if (tip && tree) return { tip, tree };
  const lost = branch && branchTree ? null : await lostTip(site, place);
  if (lost) {
    await moveRefs(
      site,
      [place.tipRef, place.branchRef].map((ref) => ({ ref, to: lost })),
    );
    return tipOf(site, place);
  }
  if (!branch || !branchTree) {
    throw new AppError('git_failed', `the branch ${place.branch} is gone`, {
      hint: 'Open the task again to create it.',
    });
  }
  await moveRefs(site, [{ ref: place.tipRef, to: branch }]);
  return { tip: branch, tree: branchTree };
}

/** The commit that the engine checked out: the branch's tip, or a candidate. */
async function expected(place: Standing, tip: string): Promise<string> {
  const shown = await readFile(place.marker, 'utf8').catch(() => '');
  return /^[0-9a-f]{40,64}$/.test(shown) ? shown : tip;
}

/** Fast path with one git call: nothing staged, changed or new, and HEAD unchanged. */
export async function isUntouched(site: Site, place: Standing, tip: string): Promise<boolean> {
  if (!(await isThere(place.index)) || (await hasAgentStaged(site, place))) return false;
  const commit = await expected(place, tip);
  const head = await headOf(place);
  if (head !== `ref: ${place.branchRef}` && head !== commit) return false;
  const options = ['--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=all'];
  const { stdout } = await site.gitAt(place)(['status', ...options]);
  const fields = stdout.split('\0').filter((field) => field !== '');
  return fields.every((field) => field.startsWith('# ')) && fields.includes(`# branch.oid ${commit}`);
}

/** Commits an agent left on HEAD or the branch that the engine's tip does not have. */
export async function strayCommits(site: Site, place: Standing, tip: string): Promise<string[]> {
  const names = [
    `worktrees/${place.admin.slice(site.info.commonDir.length + '/worktrees/'.length)}/HEAD`,
    place.branchRef,
  ];
  const found = (await site.resolver.resolve(names.map((name) => `${name}^{commit}`))).filter((oid) => oid !== null);
  const shown = await expected(place, tip);
  return notContained(
    site,
    tip,
    found.filter((oid) => oid !== shown),
  );
}

/** Saves the differences from the engine's commit. Null when there are none. The worktree is not changed. */
export async function takeSnapshot(site: Site, place: Standing, why: string): Promise<string | null> {
  const { tip } = await tipOf(site, place);
  if (await isUntouched(site, place, tip)) return null;
  return withStagedCopy(site, place, tip, (staged) => saveStaged(site, place, tip, staged.tree, why));
}

async function saveStaged(site: Site, place: Standing, tip: string, tree: string, why: string): Promise<string | null> {
  const strays = await strayCommits(site, place, tip);
  const [plain] = await site.resolver.resolve([`${await expected(place, tip)}^{tree}`]);
  if (tree === plain && strays.length === 0) return null;
  return writeSnapshot(site, place, { tree, parents: [tip, ...strays], why });
}

/**
 * Checks out `commit` in the worktree, on the branch or detached. Only ignored files stay, and files that would be lost
 * are snapshotted. The marker exists meanwhile: after an interruption the worktree is restored before its files are
 * used.
 */
export async function moveTo(
  site: Site,
  place: Standing,
  to: { commit: string; attached: boolean },
  why: string,
): Promise<string | null> {
  const { tip } = await tipOf(site, place);
  let saved: string | null = null;
  if (await isUntouched(site, place, tip)) {
    await writeFile(place.marker, to.attached ? 'moving' : to.commit);
    await checkout(site, place, to, place.index);
  } else {
    saved = await withStagedCopy(site, place, tip, async (staged, index) => {
      const ref = await saveStaged(site, place, tip, staged.tree, why);
      await writeFile(place.marker, to.attached ? 'moving' : to.commit);
      await dropUnfinished(place);
      await checkout(site, place, to, index);
      await rename(index, place.index);
      return ref;
    });
  }
  await handOverIndex(site, place);
  if (to.attached) await rm(place.marker, { force: true });
  return saved;
}

/** Uses an index with every file of the worktree, so that files that are not in the commit are removed. */
async function checkout(
  site: Site,
  place: Standing,
  to: { commit: string; attached: boolean },
  index: string,
): Promise<void> {
  await clearStaleLock(`${index}.lock`, site.clock);
  const where = to.attached
    ? ['--no-track', '--ignore-other-worktrees', '-B', place.branch, to.commit]
    : ['--detach', to.commit];
  await site.gitAt(place, index)(['checkout', '-q', '-f', ...where]);
}

/** Resets to the engine's tip of the branch. Usually there is nothing to do, and one git call finds that out. */
export async function putBack(site: Site, place: Standing, why: string): Promise<string | null> {
  const { tip } = await tipOf(site, place);
  const isMoved = (await isThere(place.marker)) || (await headOf(place)) !== `ref: ${place.branchRef}`;
  await dropUnfinished(place);
  if (!isMoved && (await isUntouched(site, place, tip))) return null;
  return moveTo(site, place, { commit: tip, attached: true }, why);
}
