import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git/program.ts';
import type { FileCommit } from '../ports.ts';
import { commitTree } from './capture.ts';
import { type Checkout, checkoutsOnTarget, obstacleIn } from './checkout.ts';
import { inTurn } from './checkout-turn.ts';
import type { GitContext } from './git-context.ts';
import { undoInterrupted } from './interrupted.ts';
import { awaitIndexLock } from './landing.ts';

/**
 * Commits one file with exactly these bytes to the target, where the person has it checked out. Nothing else of the
 * person's index and files is committed or touched. The index is written before the branch moves: a process that dies in
 * between leaves the file staged, and the person's next commit contains it.
 */
export async function commitFile(
  context: GitContext,
  file: string,
  text: string,
  message: string,
): Promise<FileCommit> {
  const { root } = context.info;
  const checkout = (await checkoutsOnTarget(context)).find(({ path }) => path === root);
  if (!checkout) return left(`${root} is not on ${context.options.target}`);
  const done = await inTurn(context, checkout, async () => {
    await awaitIndexLock(context, checkout);
    await undoInterrupted(context, checkout);
    const obstacle = await obstacleIn(checkout);
    // Uncommitted files are no obstacle here: they stay as they are.
    if (obstacle && obstacle.entries.length === 0) return left(obstacle.why);
    return commitTo(context, checkout, file, text, message);
  });
  return done ?? left(`another Tidemill is landing in ${root}`);
}

const left = (why: string): FileCommit => ({ kind: 'left', why });

async function commitTo(
  context: GitContext,
  checkout: Checkout,
  file: string,
  text: string,
  message: string,
): Promise<FileCommit> {
  const base = await context.target();
  const [there] = await context.resolver.resolve([`${base}:${file}`]);
  if (!there) return left(`git does not track ${file} yet; commit it once yourself`);
  const found = await lstat(join(checkout.path, file)).catch(() => null);
  const entry = await entryOf(checkout, file);
  if (!found?.isFile() || !entry) return left(`${file} is not a plain file of ${context.options.target}`);
  if (entry.oid !== there) return left(`you have staged other changes of ${file}`);
  if (entry.tag !== 'H') return left(`git is told to ignore changes of ${file} in this checkout`);
  const hashed = await checkout.git(['hash-object', '-w', `--path=${file}`, '--stdin'], { input: text });
  const oid = hashed.stdout.trim();
  if (oid === there) return { kind: 'unchanged' };
  const commit = await commitTree(
    context,
    await treeWith(context, base, `${entry.mode},${oid},${file}`),
    [base],
    message,
  );
  const stage = (blob: string) => checkout.git(['update-index', '--cacheinfo', `${entry.mode},${blob},${file}`]);
  try {
    await stage(oid);
  } catch (error) {
    if (error instanceof GitError && error.retriable) return left('another git command is running in the checkout');
    throw error;
  }
  try {
    await context.git(['update-ref', '-m', 'tidemill: settings', context.targetRef, commit, base]);
  } catch (error) {
    await stage(there);
    if (error instanceof GitError && (error.retriable || (await context.target()) !== base))
      return left(`${context.options.target} was moved in the same moment`);
    throw error;
  }
  return { kind: 'committed', commit };
}

/** The file in the person's index: `H 100644 OID 0 TAB PATH`. Null when it is absent or in conflict. */
async function entryOf(checkout: Checkout, file: string): Promise<{ tag: string; mode: string; oid: string } | null> {
  const ask = ['--literal-pathspecs', 'ls-files', '-s', '-v', '-z', '--', file];
  const [entry, ...more] = (await checkout.git(ask)).stdout.split('\0').filter((line) => line !== '');
  const [tag = '', mode = '', oid = '', stage] = entry?.split('\t')[0]?.split(' ') ?? [];
  return more.length === 0 && stage === '0' ? { tag, mode, oid } : null;
}

async function treeWith(context: GitContext, base: string, entry: string): Promise<string> {
  const index = join(context.dataDir, 'index', `own-file-${process.pid}-${context.next()}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    await context.git(['read-tree', base], { env });
    await context.git(['update-index', '--cacheinfo', entry], { env });
    return (await context.git(['write-tree'], { env })).stdout.trim();
  } finally {
    await rm(index, { force: true });
  }
}
