import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commitTree } from './capture.ts';
import type { GitContext } from './git-context.ts';

type Mixed = { commit: string; tree: string };

/** More paths than this do not fit into one command. */
const MOST_NAMED = 500;

export async function withFilesOf(context: GitContext, commit: string, other: string, files: string[]): Promise<Mixed> {
  const tree = await mix(context, commit, other, { files, removed: [] });
  return { tree, commit: await commitTree(context, tree, [commit], 'with the tests of the landed change') };
}

export async function putBack(context: GitContext, tree: string, base: string, files: string[]): Promise<Mixed> {
  const mixed = await mix(context, tree, base, { files, removed: files });
  return { tree: mixed, commit: await commitTree(context, mixed, [base], 'with the checks of the target') };
}

/** The first one's tree with some files of another. `removed`: files that it loses unless the other one has them. */
async function mix(
  context: GitContext,
  one: string,
  other: string,
  { files, removed }: { files: string[]; removed: string[] },
): Promise<string> {
  const index = join(context.dataDir, 'index', `mixed-${process.pid}-${context.next()}`);
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: context.dataDir };
  const update = (input: Buffer) =>
    context.git(['update-index', '-z', '--add', '--replace', '--index-info'], { env, input });
  try {
    await context.git(['read-tree', one], { env });
    // First, so that a file can take the place of a folder.
    const nothing = '0'.repeat(other.length);
    if (removed.length > 0) await update(Buffer.from(removed.map((path) => `0 ${nothing}\t${path}\0`).join('')));
    const entries = await entriesOf(context, other, files, env);
    if (entries.length > 0) await update(entries);
    return (await context.git(['write-tree'], { env })).stdout.trim();
  } finally {
    await rm(index, { force: true });
  }
}

/** `mode type oid TAB path NUL` for each of the files that the commit has, with links and modes. */
async function entriesOf(
  context: GitContext,
  commit: string,
  files: string[],
  env: Record<string, string>,
): Promise<Buffer> {
  const isShort = files.length <= MOST_NAMED;
  const { bytes } = await context.git(['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...(isShort ? files : [])], {
    env: { ...env, GIT_LITERAL_PATHSPECS: '1' },
  });
  if (isShort) return bytes;
  const wanted = new Set(files.map((path) => Buffer.from(path).toString('latin1')));
  const entries = bytes.toString('latin1').split('\0');
  const kept = entries.filter((entry) => wanted.has(entry.slice(entry.indexOf('\t') + 1)));
  return Buffer.from(kept.map((entry) => `${entry}\0`).join(''), 'latin1');
}
