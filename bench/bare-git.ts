import { join } from 'node:path';
import { changeOf, git } from './repository.ts';

/** How many git processes `landByHand` starts. */
export const GIT_COMMANDS = 9;

/**
 * What a task comes to when nobody looks: a worktree of its own, the change, a commit, a squashed commit on top of the
 * target, the target and its checkout moved forward, worktree and branch removed. Nothing is checked or recorded.
 */
export async function landByHand(root: string, folder: string, number: number): Promise<void> {
  const branch = `task/${number}-by-hand`;
  const worktree = join(folder, String(number));
  await git(root, 'worktree', 'add', '-q', '-b', branch, worktree, 'main');
  await changeOf(worktree, number);
  await git(worktree, 'add', '-A');
  await git(worktree, 'commit', '-q', '-m', `Change ${number}`);
  const tree = await git(root, 'merge-tree', '--write-tree', 'main', branch);
  const commit = await git(root, 'commit-tree', tree, '-p', 'main', '-m', `Change ${number}`);
  await git(root, 'merge', '-q', '--ff-only', commit);
  await git(root, 'worktree', 'remove', worktree);
  await git(root, 'branch', '-q', '-D', branch);
}
