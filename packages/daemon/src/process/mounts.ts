import { readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** What a sandbox shows at a place: nothing, the real thing to read, or the real thing. */
export interface Mount {
  at: string;
  kind: 'hidden' | 'readable' | 'writable';
}

const STRENGTH = { hidden: 0, readable: 1, writable: 2 };
const MOST_LINKS = 40;

/** bubblewrap's words for the mounts. Places that do not exist are left out; at one place the most generous wins. */
export async function mountArguments(wanted: Mount[]): Promise<string[]> {
  const found = await Promise.all(wanted.map(resolved));
  const all = inOrder(found.flatMap(({ mount }) => (mount ? [mount] : [])));
  // What lies in a place of the same kind is shown that way already; all there is can be read.
  const mounts = all.filter((mount) => (coverOf(mount.at, all)?.kind ?? 'readable') !== mount.kind);
  const links = found.flatMap(({ links }) => links).filter(({ at }) => coverOf(at, mounts)?.kind === 'hidden');
  const once = new Map(links.map((link) => [link.at, link.target]));
  return [
    ...mounts.flatMap(({ at, kind, isFolder }) => {
      // An empty file, and not one that cannot be read: a tool that has no password in it goes on without.
      if (kind === 'hidden') return isFolder ? ['--tmpfs', at] : ['--dev-bind', '/dev/null', at];
      return [kind === 'writable' ? '--bind' : '--ro-bind', at, at];
    }),
    ...[...once].flatMap(([at, target]) => ['--symlink', target, at]),
  ];
}

interface RealMount extends Mount {
  isFolder: boolean;
}

interface Link {
  at: string;
  target: string;
}

/** The place itself, and the links by which it was named: in a hidden folder they would be gone. */
async function resolved({ at, kind }: Mount): Promise<{ mount: RealMount | null; links: Link[] }> {
  const real = await realpath(at).catch(() => null);
  const found = real === null ? null : await stat(real).catch(() => null);
  if (real === null || real === path.sep || !found) return { mount: null, links: [] };
  const links = real === at || kind === 'hidden' ? [] : await linksOf(at);
  return { mount: { at: real, kind, isFolder: found.isDirectory() }, links };
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
function inOrder(mounts: RealMount[]): RealMount[] {
  const byPlace = new Map<string, RealMount>();
  for (const mount of mounts) {
    const known = byPlace.get(mount.at);
    if (!known || STRENGTH[known.kind] < STRENGTH[mount.kind]) byPlace.set(mount.at, mount);
  }
  const depth = ({ at }: Mount) => at.split(path.sep).length;
  return [...byPlace.values()].sort((a, b) => depth(a) - depth(b));
}

const coverOf = (at: string, mounts: RealMount[]) => mounts.findLast((mount) => isInside(at, mount.at));

export function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
