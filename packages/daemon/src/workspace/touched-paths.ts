import type { RawChange } from '../git/output.ts';

/** Beyond this many paths, only their number is kept. */
const MOST_PATHS = 2_000;

/** The paths that a change touches, as far as they matter for merging it with another change. */
export interface TouchedPaths {
  count: number;
  /** Null: too many to compare, so any other change may meet it. */
  all: ReadonlySet<string> | null;
  /** The folders above them. The top folder is the empty string. */
  folders: ReadonlySet<string>;
  /** The folders above new files. */
  grown: ReadonlySet<string>;
  /** Folders that files may have been moved out of. git moves files that others add there too. */
  left: ReadonlySet<string>;
}

export function touchedPaths(changes: readonly RawChange[]): TouchedPaths {
  const none: ReadonlySet<string> = new Set();
  const count = changes.length;
  if (count > MOST_PATHS) return { count, all: null, folders: none, grown: none, left: none };
  const added = changes.filter(({ status }) => status === 'A').map(({ path }) => path);
  const removed = changes.filter(({ status }) => status === 'D').map(({ path }) => path);
  return {
    count,
    all: new Set(changes.map(({ path }) => path)),
    folders: foldersOf(changes.map(({ path }) => path)),
    grown: foldersOf(added),
    // A move is a removed and an added file.
    left: added.length > 0 ? new Set(removed.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))) : none,
  };
}

function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    let at = path.lastIndexOf('/');
    // Above a known folder all are known.
    for (; at > 0 && !folders.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at));
    folders.add('');
  }
  return folders;
}

/**
 * How two changes can meet. `files`: only in files that both touch. `anywhere`: also by a moved file or folder, or by a
 * file in the place of a folder, which git may report under other names. Null: they cannot conflict.
 */
export function meeting(a: TouchedPaths, b: TouchedPaths): 'files' | 'anywhere' | null {
  if (a.count === 0 || b.count === 0) return null;
  if (!a.all || !b.all) return 'anywhere';
  if (share(a.all, b.folders) || share(a.folders, b.all)) return 'anywhere';
  if (share(a.left, b.grown) || share(a.grown, b.left)) return 'anywhere';
  if (!share(a.all, b.all)) return null;
  return a.left.size > 0 || b.left.size > 0 ? 'anywhere' : 'files';
}

function share(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const each of few) if (many.has(each)) return true;
  return false;
}
