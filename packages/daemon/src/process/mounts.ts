import { readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** A mount of a sandbox. Paths without a mount do not exist in it. */
export interface Mount {
  at: string;
  /** hidden: an empty folder or file. readable, writable: the real path. */
  kind: 'hidden' | 'readable' | 'writable';
  /** The path that is mounted instead. */
  from?: string;
}

/** A mount whose path exists, with the symbolic links that lead to it. */
export interface FoundMount extends Mount {
  isFolder: boolean;
  links: Link[];
  /** Changes when the file does. */
  mark: string;
}

interface Link {
  at: string;
  target: string;
}

const STRENGTH = { hidden: 0, readable: 1, writable: 2 };
const MOST_LINKS = 40;
/** A sandbox has its own of these. */
const OWN = ['/proc', '/dev'];

/** Resolves the paths. Missing paths and the root itself are left out. */
export async function findMounts(wanted: Mount[]): Promise<FoundMount[]> {
  return (await Promise.all(wanted.map(found))).filter((mount) => mount !== null);
}

/** bubblewrap's arguments for the mounts. For one path the most permissive mount wins. */
export function mountArguments(wanted: FoundMount[]): string[] {
  const all = inOrder(wanted);
  const mounts = all.filter((mount) => isNeeded(mount, coverOf(mount.at, all)));
  // A link already exists where its folder is mounted.
  const isGone = ({ at }: Link) => !isShown(coverOf(at, mounts));
  const links = new Map(wanted.flatMap((mount) => mount.links.filter(isGone)).map(({ at, target }) => [at, target]));
  return [
    ...mounts.flatMap(({ at, kind, isFolder, from = at }) => {
      // An empty file, not an unreadable one: most tools continue without a password in it.
      if (kind === 'hidden') return isFolder ? ['--tmpfs', at] : ['--dev-bind', '/dev/null', at];
      // A path that was just removed must not prevent the start.
      return [kind === 'writable' ? '--bind-try' : '--ro-bind-try', from, at];
    }),
    ...[...links].flatMap(([at, target]) => ['--symlink', target, at]),
  ];
}

/** A folder of copies hides the real folder completely. */
const isReplaced = (cover: Mount | undefined) => cover?.from !== undefined;
const isShown = (cover: Mount | undefined) => cover?.kind === 'readable' || cover?.kind === 'writable';

function isNeeded({ kind, isFolder, from }: FoundMount, cover: Mount | undefined): boolean {
  if (from !== undefined || isReplaced(cover)) return true;
  if (kind === 'hidden' && !isFolder) return isShown(cover);
  return cover?.kind !== kind;
}

async function found({ at, kind, from }: Mount): Promise<FoundMount | null> {
  const real = await realpath(at).catch(() => null);
  const entry = real === null ? null : await stat(real).catch(() => null);
  if (real === null || real === path.sep || !entry) return null;
  if (OWN.some((place) => real === place || isInside(real, place))) return null;
  const links = real === at || kind === 'hidden' ? [] : await linksOf(at);
  const mark = `${entry.ino} ${entry.mtimeMs} ${entry.size}`;
  return { at: real, kind, isFolder: entry.isDirectory(), links, mark, ...(from === undefined ? {} : { from }) };
}

async function linksOf(written: string): Promise<Link[]> {
  const links: Link[] = [];
  let real: string = path.sep;
  const ahead = written.split(path.sep);
  while (ahead.length > 0 && links.length < MOST_LINKS) {
    const name = ahead.shift() as string;
    const next = path.join(real, name);
    const target = name === '' || name === '.' || name === '..' ? null : await readlink(next).catch(() => null);
    if (target === null) {
      real = next;
      continue;
    }
    links.push({ at: next, target });
    if (path.isAbsolute(target)) real = path.sep;
    ahead.unshift(...target.split(path.sep));
  }
  return links;
}

/** Parents before their children, since a later mount covers an earlier one. */
function inOrder(mounts: FoundMount[]): FoundMount[] {
  const byPlace = new Map<string, FoundMount>();
  for (const mount of mounts) {
    const known = byPlace.get(mount.at);
    if (!known || isStronger(mount, known)) byPlace.set(mount.at, mount);
  }
  const depth = ({ at }: Mount) => at.split(path.sep).length;
  return [...byPlace.values()].sort((a, b) => depth(a) - depth(b));
}

/** A copy has priority over the original, except for a writable mount. */
function isStronger(mount: Mount, known: Mount): boolean {
  if (STRENGTH[known.kind] !== STRENGTH[mount.kind]) return STRENGTH[known.kind] < STRENGTH[mount.kind];
  return known.from === undefined && mount.from !== undefined;
}

const coverOf = (at: string, mounts: FoundMount[]) => mounts.findLast((mount) => isInside(at, mount.at));

export function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
