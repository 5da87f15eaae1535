import { lstatSync, type Stats } from 'node:fs';
import { plainName } from '@tidemill/contract';
import type { Git } from '../git/program.ts';
import { mayBeUnnormalised, unnormalisedFiles, usesFilters } from './unnormalised-files.ts';

/**
 * Finds the files of a worktree that differ from an index. An agent wrote them, and git would run itself in every
 * nested repository, with that repository's filters and hooks. So git only lists names (`ls-files` runs nothing), and
 * it only gets plain files and symbolic links.
 *
 * Names need not be UTF-8. They are kept as one character per byte (`latin1`) until they are shown.
 */
export interface Changes {
  /** Not in the index. */
  fresh: string[];
  /** In the index, and changed or missing. */
  changed: string[];
  /** Folders with a repository and no file of the index. */
  nested: string[];
  notes: string[];
  /** Files that git cannot or must not store, one line each, for the author. */
  refused: string[];
}

const LIST = ['ls-files', '-z', '-t', '-o', '-m', '-d', '--exclude-standard'];
/** Protects against reading a huge sparse file. Git hosts accept at most 100 MB anyway. */
const MOST_BYTES = 2 * 1024 ** 3;
const AT_ONCE = 2_000;

export async function findChanges(git: Git, root: string): Promise<Changes> {
  const found: Changes = { fresh: [], changed: [], nested: [], notes: [], refused: [] };
  const folders: string[] = [];
  const links = new Set<string>();
  const seen = new Set<string>();
  const { bytes } = await git(LIST);
  let looked = 0;
  for (const line of bytes.toString('latin1').split('\0')) {
    const [tag, path] = [line.slice(0, 1), line.slice(2)];
    if (path === '' || seen.has(path)) continue;
    seen.add(path);
    // A million changed files must not block the event loop.
    if (++looked % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    const refusal = path.endsWith('/') ? null : refusalOf(path, tag, root, { folders, links });
    if (refusal === 'settled') continue;
    if (refusal !== null) found.refused.push(refusal);
    else if (path.endsWith('/')) found.nested.push(path.slice(0, -1));
    else if (tag === '?') found.fresh.push(path);
    else found.changed.push(path);
  }
  if (folders.length > 0) await judgeFolders(git, folders, found);
  if (links.size > 0) found.changed = found.changed.filter((path) => !isBelow(path, links));
  found.changed = await withoutUnconverted(git, root, found.changed);
  return found;
}

async function withoutUnconverted(git: Git, root: string, changed: string[]): Promise<string[]> {
  if (changed.length === 0) return changed;
  const hasFilters = await usesFilters(root);
  const suspects: string[] = [];
  for (const path of changed) if (await mayBeUnnormalised(root, path, hasFilters)) suspects.push(path);
  if (suspects.length === 0) return changed;
  const same = await unnormalisedFiles(git, root, suspects);
  return changed.filter((path) => !same.has(path));
}

/** Returns null for a file that may be stored. Folders and links are collected for later. */
function refusalOf(
  path: string,
  tag: string,
  root: string,
  { folders, links }: { folders: string[]; links: Set<string> },
): string | null {
  const isGone = tag === 'R';
  const stats = isGone ? null : statsOf(root, path);
  if (stats?.isDirectory()) {
    folders.push(path);
    return 'settled';
  }
  if (stats && isGitsOwn(nameOf(path), stats.isSymbolicLink()))
    return `${shown(path)} has a name that git reserves; rename or remove it`;
  if (!stats) return null;
  if (stats.isSymbolicLink()) links.add(path);
  else if (!stats.isFile()) return `${shown(path)} is ${kindOf(stats)}, which git cannot store; remove it`;
  else if (stats.size > MOST_BYTES) return `${shown(path)} is larger than 2 GB and is not stored; remove it`;
  return null;
}

/** In the index, but now a folder: a replaced file, or a submodule with a repository in it. */
async function judgeFolders(git: Git, folders: string[], found: Changes): Promise<void> {
  const { bytes } = await git(['ls-files', '-z', '-s']);
  const entries = bytes.toString('latin1').split('\0');
  const submodules = new Set(
    entries.filter((entry) => entry.startsWith('160000 ')).map((entry) => entry.slice(entry.indexOf('\t') + 1)),
  );
  for (const path of folders) {
    if (!submodules.has(path)) found.changed.push(path);
    else found.notes.push(`the submodule ${shown(path)} keeps its commit; changes inside it are not included`);
  }
}

const nameOf = (path: string): string => Buffer.from(path, 'latin1').toString();

/** A file's name for display. */
export const shown = (path: string): string => plainName(nameOf(path));

/** Its bytes, for the file system. */
export const placeOf = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);

function statsOf(root: string, path: string): Stats | null {
  try {
    return lstatSync(placeOf(root, path), { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // in a folder without access: git reports it
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Whether a parent is now a symbolic link. */
function isBelow(path: string, links: Set<string>): boolean {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1))
    if (links.has(path.slice(0, end))) return true;
  return false;
}

/** Characters that macOS leaves out when it compares names. */
const IGNORED_ON_MAC = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * A path that some systems treat as `.git`, because of case, ignored characters or a short name. Git refuses them too
 * (`core.protectHFS`, `core.protectNTFS`), but its message cannot be parsed safely.
 */
function isGitsOwn(path: string, isLink: boolean): boolean {
  const parts = path.split(/[/\\]/).map((part) =>
    part
      .replace(IGNORED_ON_MAC, '')
      .toLowerCase()
      .replace(/:.*$/s, '')
      .replace(/[ .]+$/, ''),
  );
  if (parts.some((part) => part === '.git' || part === 'git~1')) return true;
  return isLink && /^\.gitmodules$|^gi7eba~\d$|^gitmod~\d$/.test(parts.at(-1) ?? '');
}
