import { readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** What a sandbox shows at a place. Whatever no mount names is not there at all. */
export interface Mount {
  at: string;
  /** hidden: an empty folder of the sandbox's own, or an empty file. readable, writable: the real thing. */
  kind: 'hidden' | 'readable' | 'writable';
  /** What is shown there instead. */
  from?: string;
}

/** A mount whose place exists, with the links by which it was named. */
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

/** The places as they really are. Those that do not exist are left out, and so is the root itself. */
export async function findMounts(wanted: Mount[]): Promise<FoundMount[]> {
  return (await Promise.all(wanted.map(found))).filter((mount) => mount !== null);
}

/** bubblewrap's words for the mounts. At one place the most generous wins. */
export function mountArguments(wanted: FoundMount[]): string[] {
  const all = inOrder(wanted);
  const mounts = all.filter((mount) => isNeeded(mount, coverOf(mount.at, all)));
  // A link is there already where the folder that holds it is shown.
  const isGone = ({ at }: Link) => !isShown(coverOf(at, mounts));
  const links = new Map(wanted.flatMap((mount) => mount.links.filter(isGone)).map(({ at, target }) => [at, target]));
  return [
    ...mounts.flatMap(({ at, kind, isFolder, from = at }) => {
      // An empty file, and not one that cannot be read: a tool that has no password in it goes on without.
      if (kind === 'hidden') return isFolder ? ['--tmpfs', at] : ['--dev-bind', '/dev/null', at];
      // One that was removed a moment ago is no reason not to start.
      return [kind === 'writable' ? '--bind-try' : '--ro-bind-try', from, at];
    }),
    ...[...links].flatMap(([at, target]) => ['--symlink', target, at]),
  ];
}

/** In a folder of copies nothing of the real one is seen. */
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

/** A copy was put in place of something for a reason: only a wish to write there goes before it. */
function isStronger(mount: Mount, known: Mount): boolean {
  if (STRENGTH[known.kind] !== STRENGTH[mount.kind]) return STRENGTH[known.kind] < STRENGTH[mount.kind];
  return known.from === undefined && mount.from !== undefined;
}

const coverOf = (at: string, mounts: FoundMount[]) => mounts.findLast((mount) => isInside(at, mount.at));

export function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
