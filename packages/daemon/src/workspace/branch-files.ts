import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git/program.ts';
import type { KeptFiles } from '../ports.ts';
import { commitTree } from './capture.ts';
import type { GitContext } from './git-context.ts';
import { NOTHING } from './ref.ts';

export interface BranchFiles {
  branch: string;
  /** The folder that has exactly these files afterwards. */
  folder: string;
  files: readonly { name: string; text: string }[];
  message: string;
}

/**
 * Commits files to a branch that nobody has checked out. A new branch begins at the target. No index and no files of a
 * person are touched.
 */
export async function commitToBranch(
  context: GitContext,
  { branch, folder, files, message }: BranchFiles,
): Promise<KeptFiles> {
  const ref = `refs/heads/${branch}`;
  const [tip] = await context.resolver.resolve([`${ref}^{commit}`]);
  const base = tip ?? (await context.target());
  if (await isCheckedOut(context, ref)) return { kind: 'left', why: `the branch ${branch} is checked out` };
  const index = join(context.dataDir, 'index', `branch-files-${process.pid}-${context.next()}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    await context.git(['read-tree', base], { env });
    const before = await filesBelow(context, base, folder);
    const gone = before.map((file) => `0 ${NOTHING}\t${file}\0`);
    const oids: string[] = [];
    for (const { text } of files)
      oids.push((await context.git(['hash-object', '-w', '--stdin'], { input: text })).stdout.trim());
    const there = files.map(({ name }, at) => `100644 ${oids[at]}\t${folder}/${name}\0`);
    await context.git(['update-index', '-z', '--index-info'], { env, input: [...gone, ...there].join('') });
    const tree = (await context.git(['write-tree'], { env })).stdout.trim();
    const [known] = await context.resolver.resolve([`${base}^{tree}`]);
    if (tip && tree === known) return { kind: 'unchanged' };
    const commit = await commitTree(context, tree, [base], message);
    return await moved(context, ref, commit, tip ?? NOTHING);
  } finally {
    await rm(index, { force: true });
  }
}

/** A branch may have been moved in the same moment, or another one may have the name of its folder. */
async function moved(context: GitContext, ref: string, to: string, from: string): Promise<KeptFiles> {
  try {
    await context.git(['update-ref', '-m', 'tidemill: idea', ref, to, from]);
    return { kind: 'kept' };
  } catch (error) {
    if (error instanceof GitError && error.code === 'git_failed') return { kind: 'left', why: error.message };
    throw error;
  }
}

async function filesBelow(context: GitContext, commit: string, folder: string): Promise<string[]> {
  const { stdout } = await context.git(['ls-tree', '-r', '-z', '--name-only', commit, '--', `${folder}/`]);
  return stdout.split('\0').filter((file) => file !== '');
}

/** Moving a branch under a checkout would make its files look changed. */
async function isCheckedOut(context: GitContext, ref: string): Promise<boolean> {
  const { stdout } = await context.git(['worktree', 'list', '--porcelain', '-z']);
  return stdout.split('\0').includes(`branch ${ref}`);
}
