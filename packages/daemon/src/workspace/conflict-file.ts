import { lstat, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, type ConflictFile, type ConflictForm, type ConflictKind } from '@tidemill/contract';
import { nulList } from '../git/output.ts';
import { GitError } from '../git/program.ts';
import { hasOwnMarkers } from './conflict-marker.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';

/** One side of a file in the index. */
export interface ConflictSide {
  mode: string;
  oid: string;
}

/** A path that git could not merge. It stays in the list after it was resolved: git remembers the sides. */
export interface ConflictEntry {
  path: string;
  base: ConflictSide | null;
  ours: ConflictSide | null;
  theirs: ConflictSide | null;
  isUnmerged: boolean;
}

export const SYMLINK = '120000';
export const GITLINK = '160000';
/** Limit for texts in the page's editor. All of them must fit into one response. */
const MAX_TEXT = 1_000_000;
const MAX_TEXT_TOTAL = 16_000_000;
const SIDES = ['base', 'ours', 'theirs'] as const;

/** The paths that git lists as unmerged in the open merge, now or before. No other path is changed. */
export async function entriesOf(context: GitContext, place: RegisteredWorktree): Promise<Map<string, ConflictEntry>> {
  const git = context.gitAt(place, join(place.admin, 'index'));
  const [undone, unmerged] = await Promise.all([
    git(['ls-files', '--resolve-undo', '-z']),
    git(['ls-files', '-u', '-z']),
  ]);
  const entries = new Map<string, ConflictEntry>();
  const take = (text: string, isUnmerged: boolean) => {
    for (const line of nulList(text)) {
      const tab = line.indexOf('\t');
      const [mode = '', oid = '', stage = ''] = line.slice(0, tab).split(' ');
      const path = line.slice(tab + 1);
      const side = SIDES[Number(stage) - 1];
      const known = entries.get(path) ?? { path, base: null, ours: null, theirs: null, isUnmerged };
      if (side) entries.set(path, { ...known, isUnmerged, [side]: { mode, oid } });
    }
  };
  take(undone.stdout, false);
  take(unmerged.stdout, true);
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function describeEntries(
  context: GitContext,
  place: RegisteredWorktree,
  entries: ConflictEntry[],
): Promise<ConflictFile[]> {
  const sizes = await sizesOf(context, entries);
  let room = MAX_TEXT_TOTAL;
  const files: ConflictFile[] = [];
  for (const entry of entries) {
    const parts = SIDES.map((side) => entry[side]).filter((stage) => stage !== null);
    const size = Math.max(0, ...parts.map(({ oid }) => sizes.get(oid) ?? 0));
    const isLarge = size > MAX_TEXT || size * (parts.length + 1) > room;
    const file = await describe(context, place, entry, isLarge);
    room -= SIDES.reduce((sum, side) => sum + (file[side]?.length ?? 0), file.current?.length ?? 0);
    files.push(file);
  }
  return files;
}

async function describe(
  context: GitContext,
  place: RegisteredWorktree,
  entry: ConflictEntry,
  isLarge: boolean,
): Promise<ConflictFile> {
  const about = { path: entry.path, kind: kindOf(entry), isResolved: !entry.isUnmerged };
  const modes = SIDES.map((side) => entry[side]?.mode);
  const nothing = { base: null, ours: null, theirs: null, current: null, isText: false };
  const without = (form: ConflictForm, hasMarkers = false) => ({ ...about, ...nothing, form, hasMarkers });
  if (modes.includes(GITLINK)) return without('submodule');
  if (modes.includes(SYMLINK)) return without('symlink');
  const found = await currentBytes(place, entry.path);
  // A file that is too large to show must not be settled with markers either.
  if (isLarge || (found && found.length > MAX_TEXT)) {
    return without('large', found !== null && hasOwnMarkers(found.toString('latin1'), []));
  }
  const [base, ours, theirs] = await Promise.all(
    SIDES.map(async (side) => textOf(entry[side] && (await blobBytes(context, place, entry.path, entry[side])))),
  );
  const current = textOf(found);
  if (base === undefined || ours === undefined || theirs === undefined || current === undefined)
    return without('binary');
  const hasMarkers = current !== null && hasOwnMarkers(current, [ours, theirs]);
  return { ...about, form: 'text', isText: true, base, ours, theirs, current, hasMarkers };
}

function kindOf({ base, ours, theirs }: ConflictEntry): ConflictKind {
  if (ours && theirs) return base ? 'both_changed' : 'both_added';
  if (ours) return base ? 'deleted_by_target' : 'added_by_task';
  if (theirs) return base ? 'deleted_by_task' : 'added_by_target';
  return 'both_deleted';
}

/** Null if there is no such file, undefined if it is not text that can be written back unchanged. */
function textOf(bytes: Buffer | null): string | null | undefined {
  if (bytes === null) return null;
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // another encoding
  }
}

async function sizesOf(context: GitContext, entries: ConflictEntry[]): Promise<Map<string, number>> {
  const stages = entries.flatMap((entry) => SIDES.map((side) => entry[side]));
  const oids = new Set(stages.flatMap((stage) => (stage && stage.mode !== GITLINK ? [stage.oid] : [])));
  if (oids.size === 0) return new Map();
  const input = [...oids].map((oid) => `${oid}\n`).join('');
  const { stdout } = await context.git(['cat-file', '--batch-check=%(objectname) %(objectsize)'], { input });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => line.split(' ')).map(([oid = '', size]) => [oid, Number(size)]));
}

/** As a checkout would write it, with line endings. */
export async function blobBytes(
  context: GitContext,
  place: RegisteredWorktree,
  path: string,
  { oid }: ConflictSide,
): Promise<Buffer> {
  const git = context.gitAt(place, join(place.admin, 'index'));
  try {
    return (await git(['cat-file', '--filters', `--path=${path}`, oid])).bytes;
  } catch (error) {
    if (error instanceof AppError && error.code === 'too_large')
      throw new AppError('too_large', `${path} is too large to write here`, {
        hint: 'Use git in the worktree. The conflict lists the commands.',
        cause: error,
      });
    // A filter that does not work here: use the content from the repository.
    if (error instanceof GitError) return (await git(['cat-file', 'blob', oid])).bytes;
    throw error;
  }
}

/** The file in the worktree, if it is a plain file in plain folders. Otherwise null. */
async function currentBytes(place: RegisteredWorktree, path: string): Promise<Buffer | null> {
  if (!(await isReachedPlainly(place.path, path))) return null;
  const file = join(place.path, path);
  const found = await lstat(file).catch(() => null);
  return found?.isFile() ? readFile(file) : null;
}

/** Refuses symbolic links in the path: they could lead out of the worktree. */
export async function isReachedPlainly(root: string, path: string): Promise<boolean> {
  const folder = dirname(path);
  if (folder === '.') return true;
  let at = root;
  for (const part of folder.split('/')) {
    at = join(at, part);
    const found = await lstat(at).catch(() => null);
    if (!found) return true;
    if (!found.isDirectory()) return false;
  }
  return true;
}
