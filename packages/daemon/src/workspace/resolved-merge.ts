import type { FileVersion, MergedFile, ResolvedMerge } from '@tidemill/core';
import { changesOfPairs, type Merged, type RawChange, type RenamedChange } from '../git/output.ts';
import type { GitContext } from './git-context.ts';
import { allTexts, isNothing, textsOf } from './tree-changes.ts';

/** Larger files are compared by their hash. */
const LARGEST = { bytes: 2_000_000, lines: 50_000 };
/** Read at a time, and in all. What is beyond is compared by its hash. */
const BATCH_BYTES = 6_000_000;
const MOST_BYTES = 60_000_000;
/** Files of the task in which new names are looked for. */
const MOST_RENAMED = 50;
const GITLINK = '160000';

/** A file without its text. */
type Entry = Omit<FileVersion, 'text'>;

/** The files of a merge that may have lost something: those in which the result is not the automatic merge. */
export async function resolvedMerge(
  context: GitContext,
  merge: { ours: string; theirs: string },
  paper: Merged,
  result: string,
): Promise<ResolvedMerge> {
  const base = await context.mergeBase(merge.ours, merge.theirs);
  const [byTarget = [], byTask = [], toResult = [], sinceBase = []] = await changesWithRenames(context, [
    [base, merge.theirs],
    [base, merge.ours],
    [paper.tree, result],
    [base, result],
  ]);
  const [fromPaper, fromBase] = [toResult.flatMap(withoutRename), sinceBase.flatMap(withoutRename)];
  const differing = new Set([...paper.conflicts, ...fromPaper.map(({ path }) => path)]);
  const inResult = new Map(fromBase.map(({ path, newOid, newMode }) => [path, entry(path, newOid, newMode)]));
  const look = new Look(byTask, inResult);
  const files = byTarget.flatMap((change) => look.files(change, differing));
  const seen = new Set(files.flatMap(({ result: found }) => (found ? [found.path] : [])));
  const others = fromPaper.flatMap(({ path, oldOid, newOid, newMode }) => {
    const after = entry(path, newOid, newMode);
    return after && !seen.has(path) ? [{ before: isNothing(oldOid) ? null : oldOid, result: after }] : [];
  });
  const renamed = byTask.filter(({ status }) => /^[MR]/.test(status)).slice(0, MOST_RENAMED);
  const texts = await readTexts(context, [
    ...files.flatMap((file) => Object.values(file).flatMap((version) => (version ? [version] : []))),
    ...others.flatMap(({ before, result: after }) => (before ? [{ ...after, id: before }, after] : [after])),
    ...renamed.flatMap(({ from, path, oldOid, oldMode, newOid, newMode }) => [
      { path: from, id: oldOid, mode: oldMode },
      { path, id: newOid, mode: newMode },
    ]),
  ]);
  const withText = (found: Entry | null): FileVersion | null =>
    found && { ...found, text: texts.get(found.id) ?? null };
  return {
    files: files.map((file) => ({
      base: withText(file.base),
      ours: withText(file.ours),
      target: withText(file.target),
      result: withText(file.result),
    })),
    others: others.map(({ before, result: after }) => ({
      before: before === null ? null : (texts.get(before) ?? null),
      result: withText(after)!,
    })),
    ofTask: renamed.flatMap(({ oldOid, newOid }) => {
      const [old, now] = [texts.get(oldOid), texts.get(newOid)];
      return old === undefined || now === undefined ? [] : [{ base: old, ours: now }];
    }),
  };
}

const entry = (path: string, id: string, mode: string): Entry | null => (isNothing(id) ? null : { path, id, mode });

type Entries = Record<keyof MergedFile, Entry | null>;

/** Finds the versions of a file, also where one side renamed it. */
class Look {
  readonly #byTask: Map<string, RenamedChange>;
  readonly #addedByTask: Map<string, RenamedChange>;
  readonly #inResult: Map<string, Entry | null>;

  constructor(byTask: RenamedChange[], inResult: Map<string, Entry | null>) {
    this.#byTask = new Map(byTask.filter(({ status }) => status !== 'A').map((change) => [change.from, change]));
    this.#addedByTask = new Map(byTask.map((change) => [change.path, change]));
    this.#inResult = inResult;
  }

  /** Nothing when the result has the automatic merge of this file. */
  files(change: RenamedChange, differing: Set<string>): Entries[] {
    const base = entry(change.from, change.oldOid, change.oldMode);
    const target = entry(change.path, change.newOid, change.newMode);
    const task = base ? this.#byTask.get(base.path) : this.#addedByTask.get(change.path);
    const ours = task ? entry(task.path, task.newOid, task.newMode) : base;
    const places = new Set([ours?.path, target?.path, base?.path].filter((path) => path !== undefined));
    if (![...places].some((path) => differing.has(path))) return [];
    const found = [...places].map((path) => this.#at(path, base)).filter((each) => each !== null);
    const result = found.find(({ path }) => path !== base?.path) ?? found[0] ?? null;
    const file = { base, ours, target, result };
    // Renamed by the target, and there under both names.
    const isDouble = target && base && target.path !== base.path && result?.path !== base.path;
    const old = isDouble ? this.#at(base.path, base) : null;
    return old ? [file, { base, ours: null, target: null, result: old }] : [file];
  }

  #at(path: string, base: Entry | null): Entry | null {
    const changed = this.#inResult.get(path);
    if (changed !== undefined) return changed;
    return base?.path === path ? base : null;
  }
}

/** The changes between each two commits or trees, renames included. */
export async function changesWithRenames(
  context: GitContext,
  pairs: [from: string, to: string][],
): Promise<RenamedChange[][]> {
  const trees = await context.resolver.resolve(pairs.flat().map((name) => `${name}^{tree}`));
  const input = pairs.map((_, i) => `${trees[2 * i]} ${trees[2 * i + 1]}\n`).join('');
  const { stdout } = await context.git(['diff-tree', '--stdin', '-r', '-z', '--raw', '-M'], { input });
  return changesOfPairs(stdout);
}

/** A renamed file as one that is gone and one that is new. */
function withoutRename(change: RenamedChange): RawChange[] {
  if (change.from === change.path) return [change];
  const nothing = '0'.repeat(change.oldOid.length);
  const gone = { ...change, path: change.from, status: 'D', newOid: nothing, newMode: '000000' };
  return [gone, { ...change, status: 'A', oldOid: nothing, oldMode: '000000' }];
}

async function readTexts(context: GitContext, entries: Entry[]): Promise<Map<string, string>> {
  const ids = [...new Set(entries.filter(({ mode }) => mode !== GITLINK).map(({ id }) => id))];
  const all = await allTexts(context, ids, LARGEST);
  if (all) return all;
  const texts = new Map<string, string>();
  const input = ids.map((id) => `${id}\n`).join('');
  const { stdout } = await context.git(['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer'], {
    input,
  });
  let [batch, size, total] = [[] as string[], 0, 0];
  const read = async () => {
    for (const [id, text] of await textsOf(context, batch, LARGEST)) texts.set(id, text);
    [batch, size] = [[], 0];
  };
  for (const line of stdout.split('\n')) {
    const [id = '', bytes] = line.split(' ');
    if (!id || Number(bytes) > LARGEST.bytes || total + Number(bytes) > MOST_BYTES) continue;
    if (size + Number(bytes) > BATCH_BYTES) await read();
    batch.push(id);
    size += Number(bytes);
    total += Number(bytes);
  }
  await read();
  return texts;
}
