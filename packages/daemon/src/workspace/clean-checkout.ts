import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { nulList, statusEntries } from '../git/output.ts';
import type { Git } from '../git/program.ts';
import type { CleanCheckout } from '../ports.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { cloneView, makeClone } from './proof-clone.ts';
import { copyIndex, findAdmin } from './registered-worktree.ts';
import { clearStaleLock } from './stale-lock.ts';
import { fillSubmodules, forgetSubmodules } from './submodules.ts';
import type { Trash } from './trash.ts';
import { reallyChanged } from './unnormalised-files.ts';

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

interface Slot extends RegisteredWorktree {
  isFree: boolean;
  /** Resolves when the leftovers of the last use are removed. */
  tidied: Promise<void>;
  /** Ignored files and folders that stay from one use to the next. */
  kept: string[];
  /** Submodules whose files are there. */
  submodules: string[];
}

const FOLDER = 'proofs';

export function openPool(context: GitContext, trash: Trash): CheckoutPool {
  const slots: Slot[] = [];
  let made = 0;
  const turn = context.perTask(FOLDER);
  let isFirst = true;
  const take = () =>
    turn(async () => {
      if (isFirst) await removeLeftovers(context, trash);
      isFirst = false;
      const free = slots.find(({ isFree }) => isFree);
      const slot = free ?? (await addSlot(context, ++made));
      if (!free) slots.push(slot);
      slot.isFree = false;
      return slot;
    });
  return {
    async checkOut(commit) {
      const slot = await take();
      try {
        await slot.tidied;
        return await show(context, slot, commit);
      } catch (error) {
        // Its state is unknown, so the slot is discarded.
        await removeSlot(context, trash, slot);
        slots.splice(slots.indexOf(slot), 1);
        throw error;
      }
    },
    async close() {
      await Promise.allSettled(slots.map(({ tidied }) => tidied));
      await turn(async () => {
        for (const slot of slots.splice(0)) await removeSlot(context, trash, slot);
      });
    },
  };
}

/** Removes checkouts of an earlier process: they may be incomplete. */
async function removeLeftovers(context: GitContext, trash: Trash): Promise<void> {
  const folder = join(context.dataDir, FOLDER);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const admin = await findAdmin(context, { name, path });
    if (admin) await rm(admin, { recursive: true, force: true });
    await forgetSubmodules(context, { name });
    await trash.throwAway(path);
  }
}

async function removeSlot(context: GitContext, trash: Trash, slot: Slot): Promise<void> {
  await rm(slot.admin, { recursive: true, force: true });
  await rm(slot.index, { force: true });
  await forgetSubmodules(context, slot);
  await trash.throwAway(slot.path);
}

async function addSlot(context: GitContext, number: number): Promise<Slot> {
  const name = `proof-${number}`;
  const path = join(context.dataDir, FOLDER, name);
  const index = join(context.dataDir, 'index', name);
  const place = {
    number: 0,
    branch: '',
    name,
    path,
    index,
    branchRef: '',
    tipRef: '',
    marker: join(context.dataDir, 'index', `${name}.unsettled`),
  };
  await rm(index, { force: true });
  await clearStaleLock(`${index}.lock`, context.clock);
  const target = await context.target();
  await context.shared(() => context.git(['worktree', 'add', '-q', '--detach', '--no-checkout', path, target]));
  const admin = await findAdmin(context, place);
  if (!admin) throw new AppError('git_failed', `git did not register the worktree ${path}`);
  return { ...place, admin, isFree: true, tidied: Promise.resolve(), kept: [], submodules: [] };
}

async function show(context: GitContext, slot: Slot, commit: string): Promise<CleanCheckout> {
  const git = context.gitAt(slot);
  const emptySubmodules: string[] = [];
  const move = async (to: string) => {
    await git(['reset', '-q', '--hard', to]);
    const { paths, empty } = await fillSubmodules(context, slot, to, { isExact: true });
    // git leaves the files of a submodule that this commit does not have.
    const isLeft = slot.submodules.some((path) => !paths.includes(path));
    slot.submodules = paths;
    emptySubmodules.splice(0, Number.POSITIVE_INFINITY, ...empty);
    if (isLeft) await clean(context, slot);
  };
  const [view] = await Promise.all([cloneView(context), move(commit)]);
  const [tree] = await context.resolver.resolve([`${commit}^{tree}`]);
  if (!tree) throw new AppError('not_found', `the commit ${commit} is not in the repository`);
  await makeClone(context, slot, commit, view);
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
      await clean(context, slot);
      await makeClone(context, slot, commit, view);
    },
    async showInstead(other) {
      await move(other);
      await clean(context, slot);
      await makeClone(context, slot, other, view);
    },
    writeTree: () => writeTree(context, slot),
    keep: (paths) => {
      slot.kept = paths;
    },
    async close() {
      slot.tidied = clean(context, slot).finally(() => {
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
async function clean(context: GitContext, slot: Slot): Promise<void> {
  // A leading slash binds the pattern to this folder; the rest is taken literally.
  const kept = slot.kept.flatMap((path) => ['-e', `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}`]);
  await context.gitAt(slot)(['clean', '-ffdxq', ...kept]);
}

/** Uses a separate index: the checkout stays unchanged. */
async function writeTree(context: GitContext, slot: Slot): Promise<string> {
  const index = `${slot.index}.fixed`;
  await copyIndex(slot.index, index);
  try {
    const git = context.gitAt(slot, index);
    // A name that ends with a slash is a nested repository. It is never added, because it would become a broken link.
    const files = (await changesIn(context.gitAt(slot), slot.path)).filter((path) => !path.endsWith('/'));
    const input = files.map((path) => `${path}\0`).join('');
    await git(['update-index', '--add', '--remove', '-z', '--stdin'], { input });
    return (await git(['write-tree'])).stdout.trim();
  } finally {
    await rm(index, { force: true });
  }
}
