import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangeSize } from '@tidemill/contract';
import { mergeListOutput, nulList } from '../git/output.ts';
import type { Forecast, Workspace } from '../ports.ts';
import { changesBetween } from './capture.ts';
import type { GitContext } from './git-context.ts';
import { meeting, type TouchedPaths, touchedPaths } from './touched-paths.ts';

/** Changes of that many branches are kept. */
const MOST_KEPT = 200;
/** A merge of two very large changes is given up after this time: a forecast is not worth more. */
const LONGEST_MS = 10_000;
const UNNAMED = '(a conflict without a file name)';

/** A branch's commit and its own change since it left the target. */
interface Branch {
  commit: string;
  base: string;
  touched: TouchedPaths;
}

/** Two commits whose changes meet. */
interface Pair {
  ours: string;
  theirs: string;
  meets: 'files' | 'anywhere';
  a: TouchedPaths;
  b: TouchedPaths;
}

/**
 * Implements `Workspace.forecast`. Changes are compared by their paths first, so that git only merges those that meet.
 * All merges are one process. It has the git folder as its only input, like every merge here, and it writes its objects
 * into a folder that is removed.
 */
export function openForecaster(context: GitContext): Workspace['forecast'] {
  const touched = new Map<string, TouchedPaths>();
  const sizes = new Map<string, ChangeSize>();

  const pathsOf = async (from: string, to: string): Promise<TouchedPaths> => {
    const key = `${from} ${to}`;
    return touched.get(key) ?? keep(touched, key, touchedPaths(await changesBetween(context, from, to)));
  };
  const branchOf = async (commit: string, target: string): Promise<Branch | null> => {
    const base = await context.mergeBase(commit, target).catch(noHistory);
    return base === null ? null : { commit, base, touched: await pathsOf(base, commit) };
  };
  const sizeOf = async ({ base, commit, touched: { count, all } }: Branch): Promise<ChangeSize> => {
    const key = `${base} ${commit}`;
    // Counting the lines of so many files takes seconds.
    if (all === null) return { files: count, lines: count };
    return sizes.get(key) ?? keep(sizes, key, { files: count, lines: await changedLines(context, base, commit) });
  };

  return async (commit, others): Promise<Forecast | null> => {
    const target = await context.target();
    const [isThere, ...known] = await existing(context, [commit, ...others]);
    const own = isThere ? await branchOf(commit, target) : null;
    if (!own) return null;
    const found = await Promise.all(others.filter((_, at) => known[at]).map((other) => branchOf(other, target)));
    const branches = found.filter((branch) => branch !== null);
    const pair = (theirs: string, paths: TouchedPaths): Pair | null => {
      const meets = meeting(own.touched, paths);
      return meets && { ours: commit, theirs, meets, a: own.touched, b: paths };
    };
    const pairs = [
      own.base === target ? null : pair(target, await pathsOf(own.base, target)),
      ...branches.map((branch) => pair(branch.commit, branch.touched)),
    ];
    const [withTarget = null, ...files] = await conflictsOf(context, pairs);
    const compared = branches.flatMap((branch, at) => {
      const known = files[at];
      return known ? [{ branch, files: known }] : [];
    });
    const hasConflict = [withTarget, ...files].some((each) => each !== null && each.length > 0);
    const [size, ...theirs] = await Promise.all([
      hasConflict ? sizeOf(own) : null,
      ...compared.map((each) => (each.files.length > 0 ? sizeOf(each.branch) : null)),
    ]);
    return {
      size: size ?? null,
      withTarget,
      compared: compared.map((each, at) => ({
        commit: each.branch.commit,
        files: each.files,
        size: theirs[at] ?? null,
      })),
    };
  };
}

/** Adds to a cache of results that never change. The oldest entries are removed. */
function keep<T>(cache: Map<string, T>, key: string, value: T): T {
  if (cache.size >= MOST_KEPT) cache.delete(cache.keys().next().value!);
  cache.set(key, value);
  return value;
}

const existing = async (context: GitContext, commits: string[]): Promise<boolean[]> =>
  (await context.resolver.resolve(commits.map((commit) => `${commit}^{commit}`))).map((oid) => oid !== null);

/** The target was replaced by an unrelated branch: then nothing can be said about this one. */
function noHistory(error: unknown): null {
  if (error instanceof Error && error.message.includes('no common history')) return null;
  throw error;
}

/** The conflicting files of each pair. Without a pair: none. Null: git could not tell. */
async function conflictsOf(context: GitContext, pairs: (Pair | null)[]): Promise<(string[] | null)[]> {
  const asked = pairs.filter((pair) => pair !== null);
  const merged = asked.length > 0 ? await mergeAll(context, asked) : [];
  const found = new Map(asked.map((pair, at) => [pair, ofPair(pair, merged[at])]));
  return pairs.map((pair) => (pair ? found.get(pair)! : []));
}

/** The names of conflicting files, `clean`, or undefined when git could not tell. */
type Merge = string[] | 'clean' | undefined;

/**
 * A branch contains what the target had when it began. Where that conflicts with the other side, the conflict is with
 * the target and not with this branch: only one of the two changes made it.
 */
function ofPair({ a, b, meets }: Pair, merge: Merge): string[] | null {
  if (merge === undefined) return null;
  if (merge === 'clean') return [];
  if (meets === 'anywhere') return merge.length > 0 ? merge : [UNNAMED];
  return merge.filter((file) => a.all?.has(file) && b.all?.has(file));
}

async function mergeAll(context: GitContext, pairs: readonly Pair[]): Promise<Merge[]> {
  const objects = join(context.dataDir, 'scratch', `forecast-${context.next()}`);
  await mkdir(objects, { recursive: true });
  const own = join(context.info.commonDir, 'objects').replaceAll(/["\\]/g, '\\$&');
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${own}"` };
  try {
    const all = await mergeListed(context, pairs, env);
    if (all) return all;
    const each: Merge[] = [];
    for (const pair of pairs) each.push(await mergeOne(context, pair, env));
    return each;
  } finally {
    await rm(objects, { recursive: true, force: true, maxRetries: 5 });
  }
}

const HOW = ['--name-only', '--no-messages'];

/** Null if git gave up: at the first pair that it cannot merge, or because it is older than 2.39. */
async function mergeListed(
  context: GitContext,
  pairs: readonly Pair[],
  env: Record<string, string>,
): Promise<Merge[] | null> {
  const input = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join('');
  return bounded(async (signal) => {
    const { code, stdout } = await context.git(['merge-tree', '--stdin', ...HOW], { input, env, signal, answers: ANY });
    return code === 0 ? mergeListOutput(stdout).map((files) => files ?? 'clean') : null;
  }, []);
}

async function mergeOne(context: GitContext, { ours, theirs }: Pair, env: Record<string, string>): Promise<Merge> {
  return bounded(async (signal) => {
    const asked = ['merge-tree', '--write-tree', '-z', ...HOW, ours, theirs];
    const { code, stdout } = await context.git(asked, { env, signal, answers: ANY });
    if (code > 1) return undefined;
    return code === 0 ? 'clean' : nulList(stdout).slice(1);
  }, undefined);
}

/** Every way in which git can give up. */
const ANY = [1, 128, 129];

async function bounded<T>(work: (signal: AbortSignal) => Promise<T>, late: T): Promise<T> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted) return late;
    throw error;
  }
}

/** Added and removed lines. A binary file counts as one. */
async function changedLines(context: GitContext, base: string, commit: string): Promise<number> {
  const how = ['-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const { stdout } = await context.git(['diff-tree', ...how, base, commit]);
  return stdout
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.split('\t', 2))
    .reduce((sum, [added, removed]) => sum + (added === '-' ? 1 : Number(added) + Number(removed)), 0);
}
