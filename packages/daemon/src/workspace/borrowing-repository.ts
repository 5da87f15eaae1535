import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { gitWith } from '../git/program.ts';
import type { BorrowingRepository } from '../ports.ts';
import { changesBetween, commitTree } from './capture.ts';
import type { GitContext } from './git-context.ts';
import { withoutNamedPipes } from './named-pipes.ts';
import { scratchFolder } from './scratch.ts';
import { addAll } from './tree.ts';

/**
 * A repository whose only branch ends at the commit. It borrows the objects of the real one, so nothing is copied, and
 * has none of its other refs: what came after the commit is not in its history. The leftover of a crash is removed with
 * the other scratch folders.
 */
export async function openBorrowingRepository(
  context: GitContext,
  name: string,
  commit: string,
): Promise<BorrowingRepository> {
  const [base] = await context.resolver.resolve([`${commit}^{commit}`]);
  if (!base)
    throw new AppError('not_found', `the commit ${commit.slice(0, 10)} is no longer in the repository`, {
      hint: 'Choose a task whose base commit is still there.',
    });
  const path = join(scratchFolder(context), name);
  const index = join(context.dataDir, 'index', `bench-${name}`);
  const remove = async () => {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    await rm(index, { force: true });
  };
  await remove();
  await mkdir(path, { recursive: true });
  const own = gitWith({ cwd: path });
  const format = base.length === 64 ? 'sha256' : 'sha1';
  await own(['init', '-q', '-b', context.options.target, `--object-format=${format}`]);
  await writeFile(join(path, '.git/objects/info/alternates'), `${join(context.info.commonDir, 'objects')}\n`);
  await copyFile(join(context.info.commonDir, 'shallow'), join(path, '.git/shallow')).catch(ifMissing);
  await copyFile(join(context.info.commonDir, 'info/exclude'), join(path, '.git/info/exclude')).catch(ifMissing);
  await own(['reset', '-q', '--hard', base]);
  return { path, base, remove, capture: (message) => capture(context, { path, base, index }, message) };
}

/** Most repositories are not shallow. */
function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Uses our own index and the real repository's settings: an agent controls everything in the folder. */
async function capture(
  context: GitContext,
  { path, base, index }: { path: string; base: string; index: string },
  message: string,
) {
  const at = { GIT_DIR: context.info.commonDir, GIT_WORK_TREE: path, GIT_INDEX_FILE: index };
  const git = withoutNamedPipes(gitWith({ cwd: path, env: at }), path);
  await rm(index, { force: true });
  await git(['read-tree', base]);
  const { refused } = await addAll(git, path);
  const tree = (await git(['write-tree'])).stdout.trim();
  const commit = await commitTree(context, tree, [base], message);
  const files = (await changesBetween(context, base, tree)).map((change) => change.path);
  return { commit, tree, files, refused };
}
