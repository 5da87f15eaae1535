import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type ConflictFile, type MergeLoss, type Resolution } from '@tidemill/contract';
import type { OpenMerge, SettledMerge } from '../ports.ts';
import { dryRun, mergeOnPaper, mergeTargetInto } from './candidate.ts';
import { captureWork, mergedTarget } from './capture.ts';
import { type ConflictEntry, describeEntries, entriesOf, GITLINK, SYMLINK } from './conflict-file.ts';
import { resolveEntry } from './conflict-write.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { lossesOf, lossesOfTree } from './merge-loss.ts';
import { isThere } from './registered-worktree.ts';
import { tipOf } from './snapshot.ts';
import { takeOverLinks } from './submodule-links.ts';
import { withStagedCopy } from './tree.ts';

/**
 * The merge of the target that a person resolves in a task's worktree. All state is in git: MERGE_HEAD, the index with
 * its stages, and the files. So nothing has to be recovered after a crash, and a person may also use git.
 */
interface UnderWay {
  tip: string;
  target: string;
  /** The target's commit that is being merged. Null when no merge is in progress. */
  merging: string | null;
  /** False when a person has already committed it. */
  isOpen: boolean;
}

async function lookForMerge(context: GitContext, place: RegisteredWorktree): Promise<UnderWay> {
  const [{ tip }, target] = await Promise.all([tipOf(context, place), context.target()]);
  // The files are not the task's work: a checkout was interrupted, or a candidate is checked out.
  if (await isThere(place.marker)) return { tip, target, merging: null, isOpen: false };
  const merging = await mergedTarget(context, place, tip, target);
  return { tip, target, merging, isOpen: merging !== null && (await isThere(join(place.admin, 'MERGE_HEAD'))) };
}

/** Begins the merge if there is none. Uses a newer target only while nothing is resolved. */
export async function openMerge(context: GitContext, place: RegisteredWorktree): Promise<OpenMerge> {
  const found = await lookForMerge(context, place);
  const isBehind = found.merging !== null && found.merging !== found.target;
  if (found.merging !== null && (!isBehind || !found.isOpen || (await isBegun(context, place)))) {
    const entries = found.isOpen ? await entriesOf(context, place) : new Map<string, ConflictEntry>();
    const files = await describeEntries(context, place, [...entries.values()]);
    return { path: place.path, isBehind, files, losses: await lossesNow(context, place, found, entries) };
  }
  const losses: MergeLoss[] = [];
  if ((await dryRun(context, place)).kind !== 'conflict')
    return { path: place.path, isBehind: false, files: [], losses };
  await mergeTargetInto(context, place);
  const entries = [...(await entriesOf(context, place)).values()];
  return { path: place.path, isBehind: false, files: await describeEntries(context, place, entries), losses };
}

/** What would be lost if the files were committed now. Not asked while something is unresolved: most would be missing. */
async function lossesNow(
  context: GitContext,
  place: RegisteredWorktree,
  { tip, merging, isOpen }: UnderWay,
  entries: Map<string, ConflictEntry>,
): Promise<MergeLoss[]> {
  const files = isOpen ? entries : await namesOf(context, tip, merging!);
  if ((await leftIn(context, place, files)).length > 0) return [];
  return lossesInFiles(context, place, tip, merging!);
}

async function lossesInFiles(
  context: GitContext,
  place: RegisteredWorktree,
  tip: string,
  merging: string,
): Promise<MergeLoss[]> {
  await takeOverLinks(context, place, [tip, merging]);
  const tree = await withStagedCopy(context, place, tip, async (staged) => staged.tree);
  return lossesOfTree(context, { ours: tip, theirs: merging }, tree);
}

/** Returns whether a person has changed a conflicting file. */
async function isBegun(context: GitContext, place: RegisteredWorktree): Promise<boolean> {
  for (const entry of (await entriesOf(context, place)).values())
    if (!entry.isUnmerged || !(await isAsGitLeftIt(context, place, entry))) return true;
  return false;
}

/** Reads only. */
export async function hasBegun(context: GitContext, place: RegisteredWorktree): Promise<boolean> {
  const { merging, isOpen } = await lookForMerge(context, place);
  if (merging === null) return false;
  return !isOpen || [...(await entriesOf(context, place)).values()].some(({ isUnmerged }) => !isUnmerged);
}

export async function resolveInMerge(
  context: GitContext,
  place: RegisteredWorktree,
  path: string,
  resolution: Resolution,
): Promise<ConflictFile> {
  if (!(await lookForMerge(context, place)).isOpen) throw notUnderWay(context, place.number);
  const entry = (await entriesOf(context, place)).get(path);
  if (!entry)
    throw new AppError('bad_input', `${JSON.stringify(path)} is not a file of this conflict`, {
      hint: `Use a path that \`tidemill conflicts show ${place.number}\` lists.`,
    });
  const [file] = await describeEntries(context, place, [entry]);
  await resolveEntry(context, place, { entry, file: file! }, resolution);
  const after = (await entriesOf(context, place)).get(path) ?? { ...entry, isUnmerged: false };
  const [resolved] = await describeEntries(context, place, [after]);
  return resolved!;
}

interface Settling {
  message: string;
  notes: string[];
  isAccepted(loss: MergeLoss): boolean;
  beforeCommit(): Promise<void>;
}

/** Commits the merge to the branch, unless something is unresolved or lost. Idempotent. */
export async function settleMerge(
  context: GitContext,
  place: RegisteredWorktree,
  { message, notes, isAccepted, beforeCommit }: Settling,
): Promise<SettledMerge> {
  const { tip, merging, isOpen } = await lookForMerge(context, place);
  if (merging === null) {
    if ((await dryRun(context, place)).kind === 'conflict') throw notUnderWay(context, place.number);
    await beforeCommit();
    const captured = await captureWork(context, place, message, notes);
    return { kind: 'settled', ...captured, losses: await lossesOf(context, place) };
  }
  const left = await leftIn(
    context,
    place,
    isOpen ? await entriesOf(context, place) : await namesOf(context, tip, merging),
  );
  if (left.length > 0) return { kind: 'left', left };
  const losses = await lossesInFiles(context, place, tip, merging);
  if (!losses.every(isAccepted)) return { kind: 'lossy', losses };
  await beforeCommit();
  return { kind: 'settled', ...(await captureWork(context, place, message, notes)), losses };
}

/** A merge that a person has committed. The index no longer has its sides, but the files can be computed again. */
async function namesOf(context: GitContext, tip: string, merging: string): Promise<Map<string, ConflictEntry>> {
  const { conflicts } = await mergeOnPaper(context, tip, merging);
  const oids = await context.resolver.resolve(conflicts.flatMap((path) => [`${tip}:${path}`, `${merging}:${path}`]));
  const stage = (oid: string | null | undefined) => (oid ? { mode: '100644', oid } : null);
  const entries = conflicts.map((path, i) => ({
    path,
    base: null,
    ours: stage(oids[2 * i]),
    theirs: stage(oids[2 * i + 1]),
    isUnmerged: false,
  }));
  return new Map(entries.map((entry) => [entry.path, entry]));
}

async function leftIn(context: GitContext, place: RegisteredWorktree, entries: Map<string, ConflictEntry>) {
  const left: { path: string; why: string }[] = [];
  for (const file of await describeEntries(context, place, [...entries.values()])) {
    if (file.hasMarkers) left.push({ path: file.path, why: 'conflict markers remain' });
    // Deleted on both sides: there is nothing to decide.
    else if (
      !file.isResolved &&
      file.kind !== 'both_deleted' &&
      (await isAsGitLeftIt(context, place, entries.get(file.path)!))
    )
      left.push({ path: file.path, why: 'it is not resolved' });
  }
  return left;
}

/**
 * Git records the tree that its merge left in the files (AUTO_MERGE). A difference from it is a decision of a person,
 * also if it was made with an editor. A deleted file counts too.
 */
async function isAsGitLeftIt(context: GitContext, place: RegisteredWorktree, entry: ConflictEntry): Promise<boolean> {
  const modes = [entry.base, entry.ours, entry.theirs].map((stage) => stage?.mode);
  if (modes.includes(GITLINK) || modes.includes(SYMLINK)) return entry.isUnmerged;
  const tree = (await readFile(join(place.admin, 'AUTO_MERGE'), 'utf8').catch(() => '')).trim();
  const [noted] = tree ? await context.resolver.resolve([`${tree}:${entry.path}`]) : [];
  const left = tree ? (noted ?? null) : ((entry.ours ?? entry.theirs)?.oid ?? null);
  const found = await lstat(join(place.path, entry.path)).catch(() => null);
  if (!found || left === null) return !found && left === null;
  if (!found.isFile()) return false;
  const hash = await context.gitAt(place)(['hash-object', `--path=${entry.path}`, '--', join(place.path, entry.path)]);
  return hash.stdout.trim() === left;
}

const notUnderWay = (context: GitContext, number: number) =>
  new AppError('conflict', `the merge of ${context.options.target} into #${number} is not in progress`, {
    hint: `Start it with \`tidemill conflicts show ${number}\`.`,
  });
