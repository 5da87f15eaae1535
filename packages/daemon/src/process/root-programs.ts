import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isInside } from './mounts.ts';

// Programs in a person's checkout that a sandbox needs, although git does not track them.

/** What package managers keep for themselves. Other names with a dot are caches and settings. */
const OF_PACKAGES = new Set(['.bin', '.pnpm', '.store', '.package-lock.json', '.modules.yaml']);

/** Files of the checkout that the command names as a word of its own: the program of an agent. */
export async function namedPrograms(words: string[], root: string): Promise<string[]> {
  const files = words.filter((word) => path.isAbsolute(word) && isInside(word, root));
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, index) => found[index]?.isFile());
}

/** The Node we run on may be a package of the repository itself. */
export function ownNode(root: string, node = process.execPath): string[] {
  const modules = path.join(root, 'node_modules');
  if (!isInside(node, modules)) return [];
  const [first = '', second = ''] = path.relative(modules, node).split(path.sep);
  return [path.join(modules, '.bin'), path.join(modules, first, first.startsWith('@') ? second : '')];
}

/** Of installed packages only the packages are shown. */
export async function unshownModules(readable: string[], root: string): Promise<string[]> {
  const folders = readable.filter((place) => path.basename(place) === 'node_modules' && isInside(place, root));
  const hidden = folders.map(async (folder) => {
    const names = await readdir(folder).catch(() => []);
    return names
      .filter((name) => name.startsWith('.') && !OF_PACKAGES.has(name))
      .map((name) => path.join(folder, name));
  });
  return (await Promise.all(hidden)).flat();
}
