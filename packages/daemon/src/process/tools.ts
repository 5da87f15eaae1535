import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { homesOf } from './home.ts';
import { isInside } from './mounts.ts';
import { isSystemPlace } from './system-view.ts';

// Programs that lie outside the system's own folders, and how much around them they need.

/** In a home many things of different kinds lie in these; being next to a tool says nothing. */
const SHARED_AT_HOME = ['', '.local', '.local/share', '.local/state', '.config', '.cache'];
/** The same elsewhere: the root's own folders, other people's homes, other disks. */
const SHARED_ELSEWHERE = /^\/[^/]*$|^\/(home|Users|mnt|media|var|run\/media)\/[^/]+$/;
const INSTALLED_MARKS = ['lib', 'lib64', 'libexec', 'share', 'versions', 'package.json', 'pyvenv.cfg'];
const PROJECT_MARKS = ['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod'];

/** What must be readable for a file in a hidden place to work as a program: the folder tree it was installed in. */
export async function programFolder(file: string, dataDir: string, homes?: string[]): Promise<string[]> {
  const real = await realpath(file).catch(() => null);
  const data = await realpath(dataDir).catch(() => dataDir);
  if (real === null || isSystemPlace(real)) return [];
  if (isInside(real, data)) return [path.dirname(real) === data ? real : path.dirname(real)];
  const tree = await programTree(real, homes ?? (await homesOf(undefined)));
  return tree === null ? [] : [tree];
}

/**
 * Programs a command may go on to call: whatever is on its PATH, and the Node we run on. Where such a folder lies in a
 * hidden place, the tree it was installed in stays readable, or a gate would not find the tools it finds outside.
 */
export async function toolFolders(searchPath: string, dataDir: string, homes: string[]): Promise<string[]> {
  const data = await realpath(dataDir).catch(() => dataDir);
  const listed = new Set([...searchPath.split(path.delimiter), path.dirname(process.execPath)]);
  const shown = [...listed].filter(path.isAbsolute).map(async (folder) => {
    const real = await realpath(folder).catch(() => '');
    if (real === '' || isInside(real, data) || isFalse(folder, real)) return [];
    // Named by a link that would be gone with the place it lies in.
    if (isSystemPlace(real)) return real === folder ? [] : [folder];
    const linked = await linkedPrograms(real);
    const [own, ...others] = await Promise.all([real, ...linked].map((file) => programFolder(file, dataDir, homes)));
    return [...(own?.length ? [folder, ...own] : []), ...others.flat()];
  });
  return [...new Set((await Promise.all(shown)).flat())];
}

/** A repository's folder of programs is on some agents' PATH, and an agent's work may have put a link in its place. */
const isFalse = (folder: string, real: string) =>
  /\/node_modules\/\.bin\/?$/.test(folder) && !/\/node_modules\/\.bin$/.test(real);

/**
 * What belongs to a program, or to a folder of programs: the project or the tree it was installed in, as little around it
 * as can be told. `~/.local/bin/x` is alone; `~/node-v24/bin/node` needs all of `~/node-v24`. Null for a folder where
 * much else lies too.
 */
export async function programTree(file: string, homes: string[]): Promise<string | null> {
  // The deepest first: a home may lie in another.
  const home = [...homes].sort((a, b) => b.length - a.length).find((folder) => isInside(file, folder));
  const isShared = (at: string) =>
    home !== undefined && (at === home || isInside(at, home))
      ? SHARED_AT_HOME.includes(path.relative(home, at))
      : SHARED_ELSEWHERE.test(at);
  const parts = file.split(path.sep);
  const modules = parts.indexOf('node_modules');
  if (modules >= 0) return parts.slice(0, modules + 1).join(path.sep);
  const isFolder = (await stat(file).catch(() => null))?.isDirectory() ?? false;
  const folder = isFolder ? file : path.dirname(file);
  if (isShared(folder)) return isFolder ? null : file;
  if (/^(s?bin|shims|libexec)$/.test(path.basename(folder))) {
    const above = path.dirname(folder);
    return !isShared(above) && (await hasAny(above, INSTALLED_MARKS)) ? above : folder;
  }
  // A program of a repository may need any part of it; one of a package that part at least.
  let project: string | null = null;
  for (let at = folder; !isShared(at); at = path.dirname(at)) {
    if (await hasAny(at, ['.git'])) return at;
    if (project === null && (await hasAny(at, PROJECT_MARKS))) project = at;
  }
  return project ?? folder;
}

async function hasAny(folder: string, names: string[]): Promise<boolean> {
  const found = await Promise.all(names.map((name) => stat(path.join(folder, name)).catch(() => null)));
  return found.some((entry) => entry !== null);
}

/** Where the links in a folder of programs lead: `~/.local/bin/node` is often one into a folder that is not on PATH. */
async function linkedPrograms(folder: string): Promise<string[]> {
  if (folder.includes(`${path.sep}node_modules${path.sep}`)) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  return Promise.all(links.map(({ name }) => realpath(path.join(folder, name)).catch(() => folder)));
}
