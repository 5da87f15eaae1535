import { createHash } from 'node:crypto';
import { copyFile, lstat, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gitWith } from '../git/program.ts';
import type { Copied, CopiedFolders } from './copies.ts';
import { type FoundMount, findMounts, isInside } from './mounts.ts';

// A person's checkout holds more than git tracks: keys, local settings, drafts. Work happens in worktrees, so a sandbox
// does not need the checkout. It sees a read-only folder in its place, with mount points for what it may see: `.git`,
// and the paths that the settings name. A command that names the checkout also gets the tracked files, as the last
// commit has them.

export interface RootRequest {
  /** The real path, and the path as the settings have it. */
  root: string;
  written: string;
  dataDir: string;
  /** The words of the command, and the values of its variables. */
  words: string[];
}

export class RootView {
  readonly #copies: CopiedFolders;
  /** One update at a time for each checkout. */
  readonly #updates = new Map<string, Promise<string | null>>();

  constructor(copies: CopiedFolders) {
    this.#copies = copies;
  }

  /** The mounts, with one more that takes the place of the checkout. */
  async cover(mounts: FoundMount[], { root, written, dataDir, words }: RootRequest): Promise<FoundMount[]> {
    const there = mounts.filter(({ at }) => at === root);
    // A home folder that is the repository stays an empty home. Work in the checkout itself has full access to it.
    if (there.some(({ kind }) => kind !== 'readable')) return mounts;
    const [itself] = await findMounts([{ at: written, kind: 'readable' }]);
    if (!itself) return mounts;
    const entry = await stat(path.join(root, '.git')).catch(() => null);
    const isNamed = there.length > 0 || words.some((word) => word.includes(root) || word.includes(written));
    const files = isNamed && entry ? await this.#tracked(root, dataDir) : null;
    const inside = mounts.filter(({ at }) => isInside(at, root));
    const rest = mounts.filter(({ at }) => !isInside(at, root) && at !== root);
    const linked = entry?.isFile() ? path.join(root, '.git') : null;
    const cover = { at: root, kind: 'readable' as const, isFolder: true, links: itself.links, mark: '' };
    if (files === null) {
      const from = await this.#copies.folderOf('root', pointsOf(inside, root, linked), dataDir);
      return [...rest, { ...cover, from }, ...inside];
    }
    if (linked) await copyFile(linked, path.join(files, '.git'));
    const fitting = await Promise.all(inside.map((mount) => hasPoint(mount, inside, { root, files })));
    return [...rest, { ...cover, from: files }, ...inside.filter((_, index) => fitting[index])];
  }

  /** A folder with the files of the checkout's last commit. Null when there is none. */
  #tracked(root: string, dataDir: string): Promise<string | null> {
    const folder = path.join(
      dataDir,
      'sandbox',
      `tracked-${createHash('sha256').update(root).digest('hex').slice(0, 24)}`,
    );
    const before = this.#updates.get(folder) ?? Promise.resolve(null);
    // Objects may be missing, as in a partial clone. Then the command sees no tracked files there.
    const update = before.then(() => updated(root, folder)).catch(() => null);
    this.#updates.set(folder, update);
    return update;
  }
}

async function updated(root: string, folder: string): Promise<string | null> {
  const git = gitWith({ cwd: root });
  const asked = await git(['rev-parse', '--absolute-git-dir', 'HEAD^{tree}'], { answers: [128] });
  const [gitDir = '', tree = ''] = asked.stdout.trim().split('\n');
  if (asked.code !== 0 || tree === '') return null;
  const [files, note] = [path.join(folder, 'files'), path.join(folder, 'tree')];
  const known = await readFile(note, 'utf8').catch(() => '');
  if (known !== tree) {
    // What an update left that was cut short, or another program removed.
    if (known === '') await rm(folder, { recursive: true, force: true });
    await mkdir(files, { recursive: true, mode: 0o700 });
    await rm(note, { force: true });
    const env = {
      GIT_DIR: gitDir,
      GIT_WORK_TREE: files,
      GIT_INDEX_FILE: path.join(folder, 'index'),
      GIT_LFS_SKIP_SMUDGE: '1',
    };
    await git(['-c', 'core.sparseCheckout=false', 'read-tree', '--reset', '-u', tree], { cwd: files, env });
    await writeFile(note, tree);
  }
  const now = Date.now() / 1000;
  await utimes(folder, now, now); // keeps it from being tidied away
  return files;
}

function pointsOf(inside: FoundMount[], root: string, linked: string | null): Copied[] {
  const points = new Map<string, Copied>();
  for (const { at, isFolder } of inside) {
    const name = path.relative(root, at);
    points.set(name, { name, is: isFolder ? 'folder' : 'empty file', mark: '' });
  }
  for (const { at, target } of inside.flatMap((mount) => mount.links)) {
    const name = path.relative(root, at);
    if (isInside(at, root) && !points.has(name)) points.set(name, { name, is: { link: target }, mark: '' });
  }
  if (linked) points.set('.git', { name: '.git', is: { file: linked }, mark: '' });
  return [...points.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Makes sure that the mount has its place among the files. A committed link must not take the place elsewhere. */
async function hasPoint(
  { at, isFolder }: FoundMount,
  inside: FoundMount[],
  { root, files }: { root: string; files: string },
): Promise<boolean> {
  // In another mount it has its place already, or bubblewrap makes it.
  if (inside.some((other) => isInside(at, other.at))) return true;
  let place = files;
  const parts = path.relative(root, at).split(path.sep);
  for (const [index, part] of parts.entries()) {
    place = path.join(place, part);
    const isLast = index === parts.length - 1;
    const found = await lstat(place).catch(() => null);
    if (found && found.isDirectory() !== (isFolder || !isLast)) return false;
    if (found?.isSymbolicLink()) return false;
    if (!found && isLast && !isFolder) await writeFile(place, '');
    else if (!found) await mkdir(place, { recursive: true });
  }
  return true;
}
