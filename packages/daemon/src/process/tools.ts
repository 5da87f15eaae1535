import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { homesOf, PARTLY_SHOWN } from './home.ts';
import { isInside } from './mounts.ts';
import { isSystemPlace } from './system-view.ts';

// Programs outside the system folders, and the folders they need.

/** Folders of a home with mixed content: files next to a tool may be unrelated. */
const SHARED_AT_HOME = ['', '.local', '.local/share', '.local/state', '.config', '.cache'];
/** The same outside a home: top-level folders, other homes, other disks. */
const SHARED_ELSEWHERE = /^\/[^/]*$|^\/(home|Users|mnt|media|var|run\/media)\/[^/]+$/;
const INSTALLED_MARKS = ['lib', 'lib64', 'libexec', 'share', 'versions', 'package.json', 'pyvenv.cfg'];
const INSTALLED = [...INSTALLED_MARKS, 'bin', 'sbin', 'include', 'toolchains', 'shims', 'opt', 'node_modules'];
const PROJECT_MARKS = ['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod'];

/** The folder tree that must be readable for a program in a hidden path to work: its installation. */
export async function programFolder(file: string, dataDir: string, homes?: string[]): Promise<string[]> {
  const real = await realpath(file).catch(() => null);
  const data = await realpath(dataDir).catch(() => dataDir);
  if (real === null || isSystemPlace(real)) return [];
  if (isInside(real, data)) return [path.dirname(real) === data ? real : path.dirname(real)];
  const all = homes ?? (await homesOf(undefined));
  const tree = await programTree(real, all);
  return tree === null ? [] : partsOf(tree, real, all);
}

/** Of `~/.tool` only what an installation consists of: its settings and logins are often beside it. */
function partsOf(tree: string, program: string, homes: string[]): string[] {
  const isPrivate = homes.some((home) => path.dirname(tree) === home) && path.basename(tree).startsWith('.');
  if (!isPrivate || !isInside(program, tree)) return [tree];
  const own = path.join(tree, path.relative(tree, program).split(path.sep)[0] ?? '');
  return [...new Set([own, ...INSTALLED.map((name) => path.join(tree, name))])];
}

/**
 * Programs that a command may call: everything on its PATH, and the Node we run on. If such a folder is in a hidden
 * path, its installation stays readable, so that a gate finds the same tools as outside.
 */
export async function toolFolders(searchPath: string, dataDir: string, homes: string[]): Promise<string[]> {
  const data = await realpath(dataDir).catch(() => dataDir);
  const listed = new Set([...searchPath.split(path.delimiter), path.dirname(process.execPath)]);
  const shown = [...listed].filter(path.isAbsolute).map(async (folder) => {
    const real = await realpath(folder).catch(() => '');
    if (real === '' || isInside(real, data) || isFalse(folder, real)) return [];
    // Its link would be hidden together with its folder.
    if (isSystemPlace(real)) return real === folder ? [] : [folder];
    const linked = await linkedPrograms(real);
    const [own, ...others] = await Promise.all([real, ...linked].map((file) => programFolder(file, dataDir, homes)));
    return [...(own?.length ? [folder, ...own] : []), ...others.flat()];
  });
  return [...new Set((await Promise.all(shown)).flat())];
}

/** A repository's program folder may be on PATH, and an agent may have replaced it by a link. */
const isFalse = (folder: string, real: string) =>
  /\/node_modules\/\.bin\/?$/.test(folder) && !/\/node_modules\/\.bin$/.test(real);

/**
 * The smallest folder that a program or a folder of programs needs. `~/.local/bin/x` needs only itself.
 * `~/node-v24/bin/node` needs all of `~/node-v24`. Null for a folder with other content.
 */
export async function programTree(file: string, homes: string[]): Promise<string | null> {
  // The deepest first: a home may be inside another.
  const home = [...homes].sort((a, b) => b.length - a.length).find((folder) => isInside(file, folder));
  const isShared = (at: string) =>
    home !== undefined && (at === home || isInside(at, home))
      ? SHARED_AT_HOME.includes(path.relative(home, at)) || PARTLY_SHOWN.has(path.relative(home, at))
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
  // A program of a repository may need any part of it. One of a package needs at least the package.
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

/** The targets of the links in a program folder: `~/.local/bin/node` often leads to a folder that is not on PATH. */
async function linkedPrograms(folder: string): Promise<string[]> {
  if (folder.includes(`${path.sep}node_modules${path.sep}`)) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  return Promise.all(links.map(({ name }) => realpath(path.join(folder, name)).catch(() => folder)));
}
