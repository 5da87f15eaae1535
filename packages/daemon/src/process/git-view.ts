import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { gitWith } from '../git/program.ts';
import type { Copied, CopiedFolders } from './copies.ts';
import { isInside, type Mount } from './mounts.ts';

// The .git folder also contains remote URLs, which may include passwords. A sandbox sees only the parts that git needs
// to read history, and copies of the settings without credentials. The whole folder is rebuilt, because git replaces
// its settings by a rename, and a mount over a single file would then disappear from a running sandbox.

const LIVE = ['objects', 'refs', 'reftable', 'worktrees', 'packed-refs', 'lfs/objects'];
const COPIED = ['HEAD', 'shallow', 'info/exclude', 'info/attributes', 'info/sparse-checkout', 'info/grafts'];
const SETTINGS = ['config', 'config.worktree'];

/** Sections that change how git works. None of them is meant for passwords. */
const KEPT_SECTIONS = new Set(
  [
    'core extensions user author committer remote branch diff merge init color log status format index feature',
    'submodule pull push rebase safe i18n gc pack fetch checkout apply blame column commit grep pager tag versionsort',
    'worktree attr clean advice filter lfs receive rerere sequence showbranch uploadpack interactive',
  ]
    .join(' ')
    .split(' '),
);
const SECRET_KEYS = /(token|secret|passw(or)?d|pass|passphrase|extraheader|helper|askpass|apikey|cookiefile|proxy)$/i;

const INCLUDED_MS = 20_000;

export class GitView {
  readonly #copies: CopiedFolders;
  /** The last filtered settings, by file. */
  readonly #known = new Map<string, { mark: string; until: number; text: Promise<string> }>();

  constructor(copies: CopiedFolders) {
    this.#copies = copies;
  }

  /** The repository as a sandbox shows it. */
  async mounts(root: string, worktree: string, dataDir: string): Promise<Mount[]> {
    const folder = await commonFolder(root);
    // Work in the repository itself has full access.
    if (folder === null || isInside(folder, worktree)) return [];
    const at = (name: string) => path.join(folder, name);
    const [live, copied, settings, borrowed, inWorktrees] = await Promise.all([
      Promise.all(LIVE.map(async (name) => ({ name, found: await stat(at(name)).catch(() => null) }))),
      Promise.all(COPIED.map(async (name) => ({ name, found: await stat(at(name)).catch(() => null) }))),
      Promise.all(SETTINGS.map(async (name) => ({ name, text: await this.#plainSettings(at(name)) }))),
      alternates(at('objects')),
      this.#worktreeSettings(at('worktrees'), dataDir),
    ]);
    const entries: Copied[] = [
      ...live.flatMap(({ name, found }): Copied[] => {
        if (!found) return [];
        return [{ name, is: found.isDirectory() ? 'folder' : 'empty file', mark: '' }];
      }),
      ...copied.flatMap(({ name, found }): Copied[] =>
        found ? [{ name, is: { file: at(name) }, mark: `${found.mtimeMs} ${found.size}` }] : [],
      ),
      ...settings.flatMap(({ name, text }): Copied[] => (text === null ? [] : [{ name, is: { text }, mark: '' }])),
    ];
    const readable = [...live.flatMap(({ name, found }) => (found ? [at(name)] : [])), ...borrowed];
    return [
      { at: folder, kind: 'readable', from: await this.#copies.folderOf('git', entries, dataDir) },
      ...readable.map((place) => ({ at: place, kind: 'readable' as const })),
      ...inWorktrees,
    ];
  }

  /** Only the objects, for a clone that borrows them. */
  async objects(root: string): Promise<string[]> {
    const folder = await commonFolder(root);
    if (folder === null) return [];
    const objects = path.join(folder, 'objects');
    return [objects, ...(await alternates(objects))];
  }

  /** Git's settings of the machine and of the person. */
  async personal(homes: string[], dataDir: string): Promise<Mount[]> {
    const files = homes.flatMap((home) => [path.join(home, '.gitconfig'), path.join(home, '.config', 'git', 'config')]);
    return this.#settingsMounts(['/etc/gitconfig', ...files], dataDir);
  }

  /** A worktree may have its own settings. */
  async #worktreeSettings(folder: string, dataDir: string): Promise<Mount[]> {
    const names = await readdir(folder).catch(() => []);
    return this.#settingsMounts(
      names.map((name) => path.join(folder, name, 'config.worktree')),
      dataDir,
    );
  }

  async #settingsMounts(files: string[], dataDir: string): Promise<Mount[]> {
    const mounts = await Promise.all(
      files.map(async (at): Promise<Mount[]> => {
        const text = await this.#plainSettings(at);
        if (text === null) return [];
        const copies = await this.#copies.folderOf('gitconfig', [{ name: 'config', is: { text }, mark: '' }], dataDir);
        return [{ at, kind: 'readable', from: path.join(copies, 'config') }];
      }),
    );
    return mounts.flat();
  }

  /** The settings as a sandbox sees them, or null when there are none. */
  async #plainSettings(file: string): Promise<string | null> {
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) return null;
    const mark = `${found.ino} ${found.mtimeMs} ${found.size}`;
    const last = this.#known.get(file);
    if (last?.mark === mark && last.until > performance.now()) return last.text;
    const git = gitWith({ cwd: path.dirname(file) });
    const listed = git(['config', '--file', file, '--includes', '--list', '-z']);
    // Unreadable settings are skipped. Git itself reports them.
    const text = listed.then(
      ({ stdout }) => withoutSecrets(stdout),
      () => '',
    );
    // Included files are not checked each time.
    this.#known.set(file, { mark, until: performance.now() + INCLUDED_MS, text });
    return text;
  }
}

/** The common git folder of all worktrees. It is not always `.git` in the root. */
async function commonFolder(root: string): Promise<string | null> {
  const entry = path.join(root, '.git');
  const found = await stat(entry).catch(() => null);
  if (!found) return null;
  if (found.isDirectory()) return realpath(entry);
  const folder = /^gitdir: (.+)$/m.exec(await readFile(entry, 'utf8'))?.[1];
  if (!folder) return null;
  const gitDir = path.resolve(root, folder);
  const common = await readFile(path.join(gitDir, 'commondir'), 'utf8').catch(() => '.');
  return realpath(path.resolve(gitDir, common.trim())).catch(() => null);
}

/** Objects that the repository borrows from another one. */
async function alternates(objects: string, depth = 0): Promise<string[]> {
  const text = depth > 5 ? '' : await readFile(path.join(objects, 'info', 'alternates'), 'utf8').catch(() => '');
  const folders = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('"'));
  const here = folders.map((folder) => path.resolve(objects, folder));
  return [...here, ...(await Promise.all(here.map((folder) => alternates(folder, depth + 1)))).flat()];
}

/** Rewrites settings from git's list format (`section.name.key\nvalue\0`) without credentials. */
function withoutSecrets(listed: string): string {
  const lines: string[] = [];
  for (const entry of listed.split('\0')) {
    if (entry === '') continue;
    const end = entry.indexOf('\n');
    const key = end < 0 ? entry : entry.slice(0, end);
    const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
    const section = key.slice(0, first);
    const name = key.slice(last + 1);
    if (first < 0 || !KEPT_SECTIONS.has(section) || SECRET_KEYS.test(name)) continue;
    const part = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`;
    lines.push(`[${section}${part}]`, end < 0 ? `\t${name}` : `\t${name} = ${quoted(entry.slice(end + 1))}`);
  }
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  const plain = withoutPassword(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${plain.replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}

/** Removes name, password and query from a URL. The user of an ssh URL is not a secret. */
function withoutPassword(text: string): string {
  return text
    .replace(/\b(ssh|git\+ssh|ssh\+git):\/\/([^/\s@:]*):[^/\s]*@/gi, '$1://$2@')
    .replace(/\b((?!ssh\b)[a-z][a-z0-9+.-]*):\/\/[^/\s]*@/gi, (whole, scheme: string) =>
      /ssh/i.test(scheme) ? whole : `${scheme}://`,
    )
    .replace(/(\bhttps?:\/\/[^\s?]*)\?\S*/gi, '$1');
}
