import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { nulList, statusEntries } from '../git/output.ts';
import type { Git } from '../git/program.ts';
import type { CleanCheckout } from '../ports.ts';
import { cloneView, makeClone } from './proof-clone.ts';
import type { Site, Standing } from './site.ts';
import { clearStaleLock } from './stale-lock.ts';
import { copyIndex, findAdmin } from './standing.ts';
import { fillSubmodules, forgetSubmodules } from './submodules.ts';
import type { Trash } from './trash.ts';
import { reallyChanged } from './unconverted.ts';

/**
 * A pool of checkouts in which gates run. Each is moved from one commit to the next by what differs between them:
 *
 *   free ──checkOut: moved to the commit──▶ in use ──close──▶ being tidied (beside other work) ──▶ free
 *
 * For the gates each of them is a clone of the repository with the target checked out (proof-clone.ts). The engine's git
 * knows it as a worktree. They never contain files of an agent's worktree. Leftovers of a gate are removed before the next use. Only prepared
 * files (see `keep`) stay, and the preparation checks them.
 */
export interface CheckoutPool {
  checkOut(commit: string): Promise<CleanCheckout>;
  /** Removes all of them. None may be used afterwards. */
  close(): Promise<void>;
}

interface Slot extends Standing {
  isFree: boolean;
  /** Resolves when the leftovers of the last use are removed. */
  tidied: Promise<void>;
  /** Ignored files and folders that stay from one use to the next. */
  kept: string[];
  /** Submodules whose files are there. */
  submodules: string[];
}

const FOLDER = 'proofs';

export function openPool(site: Site, trash: Trash): CheckoutPool {
  const slots: Slot[] = [];
  let made = 0;
  const turn = site.perTask(FOLDER);
  let isFirst = true;
  const take = () =>
    turn(async () => {
      if (isFirst) await removeLeftovers(site, trash);
      isFirst = false;
      const free = slots.find(({ isFree }) => isFree);
      const slot = free ?? (await addSlot(site, ++made));
      if (!free) slots.push(slot);
      slot.isFree = false;
      return slot;
    });
  return {
    async checkOut(commit) {
      const slot = await take();
      try {
        await slot.tidied;
        return await show(site, slot, commit);
      } catch (error) {
        // Its state is unknown, so the slot is discarded.
        await removeSlot(site, trash, slot);
        slots.splice(slots.indexOf(slot), 1);
        throw error;
      }
    },
    async close() {
      await Promise.allSettled(slots.map(({ tidied }) => tidied));
      await turn(async () => {
        for (const slot of slots.splice(0)) await removeSlot(site, trash, slot);
      });
    },
  };
}

/** Removes checkouts of an earlier process: they may be incomplete. */
async function removeLeftovers(site: Site, trash: Trash): Promise<void> {
  const folder = join(site.dataDir, FOLDER);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const admin = await findAdmin(site, { name, path });
    if (admin) await rm(admin, { recursive: true, force: true });
    await forgetSubmodules(site, { name });
    await trash.throwAway(path);
  }
}

async function removeSlot(site: Site, trash: Trash, slot: Slot): Promise<void> {
  await rm(slot.admin, { recursive: true, force: true });
  await rm(slot.index, { force: true });
  await forgetSubmodules(site, slot);
  await trash.throwAway(slot.path);
}

async function addSlot(site: Site, number: number): Promise<Slot> {
  const name = `proof-${number}`;
  const path = join(site.dataDir, FOLDER, name);
  const index = join(site.dataDir, 'index', name);
  const place = {
    number: 0,
    branch: '',
    name,
    path,
    index,
    branchRef: '',
    tipRef: '',
    marker: join(site.dataDir, 'index', `${name}.unsettled`),
  };
  await rm(index, { force: true });
  await clearStaleLock(`${index}.lock`, site.clock);
  const target = await site.target();
  await site.shared(() => site.git(['worktree', 'add', '-q', '--detach', '--no-checkout', path, target]));
  const admin = await findAdmin(site, place);
  if (!admin) throw new AppError('git_failed', `git did not register the worktree ${path}`);
  return { ...place, admin, isFree: true, tidied: Promise.resolve(), kept: [], submodules: [] };
}

async function show(site: Site, slot: Slot, commit: string): Promise<CleanCheckout> {
  const git = site.gitAt(slot);
  const emptySubmodules: string[] = [];
  const move = async (to: string) => {
    await git(['reset', '-q', '--hard', to]);
    const { paths, empty } = await fillSubmodules(site, slot, to, { isExact: true });
    // git leaves the files of a submodule that this commit does not have.
    const isLeft = slot.submodules.some((path) => !paths.includes(path));
    slot.submodules = paths;
    emptySubmodules.splice(0, Number.POSITIVE_INFINITY, ...empty);
    if (isLeft) await clean(site, slot);
  };
  const [view] = await Promise.all([cloneView(site), move(commit)]);
  const [tree] = await site.resolver.resolve([`${commit}^{tree}`]);
  if (!tree) throw new AppError('not_found', `the commit ${commit} is not in the repository`);
  await makeClone(site, slot, commit, view);
  return {
    name: slot.name,
    path: slot.path,
    commit,
    tree,
    emptySubmodules,
    changes: () => changesIn(git, slot.path),
    ignored: () => ignoredIn(git),
    async reset() {
      await move(commit);
      await clean(site, slot);
      await makeClone(site, slot, commit, view);
    },
    async showInstead(other) {
      await move(other);
      await clean(site, slot);
      await makeClone(site, slot, other, view);
    },
    writeTree: () => writeTree(site, slot),
    keep: (paths) => {
      slot.kept = paths;
    },
    async close() {
      slot.tidied = clean(site, slot).finally(() => {
        slot.isFree = true;
      });
      // The next user waits for this and gets the failure.
      slot.tidied.catch(() => undefined);
    },
  };
}

/** Keeps git status out of nested repositories: a populated submodule could run a filter. */
const STATUS = ['--porcelain=v1', '-z', '--untracked-files=all', '--ignore-submodules=all', '--no-renames'];

async function changesIn(git: Git, root: string): Promise<string[]> {
  const { stdout } = await git(['status', ...STATUS]);
  return (await reallyChanged(git, root, statusEntries(stdout))).map(({ path }) => path);
}

async function ignoredIn(git: Git): Promise<string[]> {
  const { stdout } = await git(['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory']);
  return nulList(stdout).map((path) => path.replace(/\/$/, ''));
}

/** Removes untracked and ignored files and nested repositories. This is our own folder, so no person's work is lost. */
async function clean(site: Site, slot: Slot): Promise<void> {
  // A leading slash binds the pattern to this folder; the rest is taken literally.
  const kept = slot.kept.flatMap((path) => ['-e', `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}`]);
  await site.gitAt(slot)(['clean', '-ffdxq', ...kept]);
}

/** Uses a separate index: the checkout stays unchanged. */
async function writeTree(site: Site, slot: Slot): Promise<string> {
  const index = `${slot.index}.fixed`;
  await copyIndex(slot.index, index);
  try {
    const git = site.gitAt(slot, index);
    // A name that ends with a slash is a nested repository. It is never added, because it would become a broken link.
    const files = (await changesIn(site.gitAt(slot), slot.path)).filter((path) => !path.endsWith('/'));
    const input = files.map((path) => `${path}\0`).join('');
    await git(['update-index', '--add', '--remove', '-z', '--stdin'], { input });
    return (await git(['write-tree'])).stdout.trim();
  } finally {
    await rm(index, { force: true });
  }
}
