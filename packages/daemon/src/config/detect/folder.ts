import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitWith } from '../../git/program.ts';

/** The content of a folder of the repository, as far as it shows how the project is built. */
export class Folder {
  readonly root: string;
  /** Relative to the root; empty for the root itself. */
  readonly path: string;
  readonly #unshared: ReadonlySet<string>;

  /** `unshared`: files, relative to the root, that a worktree lacks. They do not count. */
  constructor(root: string, path = '', unshared: ReadonlySet<string> = new Set()) {
    this.root = root;
    this.path = path;
    this.#unshared = unshared;
  }

  without(unshared: ReadonlySet<string>): Folder {
    return new Folder(this.root, this.path, unshared);
  }

  /** Relative to the root. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }

  has(name: string): boolean {
    return !this.#unshared.has(this.at(name)) && existsSync(join(this.root, this.path, name));
  }

  /** The names that exist. */
  present(...names: string[]): string[] {
    return names.filter((name) => this.has(name));
  }

  async text(name: string): Promise<string> {
    return this.has(name) ? await readFile(join(this.root, this.path, name), 'utf8').catch(() => '') : '';
  }

  async json(name: string): Promise<unknown> {
    try {
      return JSON.parse(await this.text(name));
    } catch {
      return null;
    }
  }

  /** Whether git tracks the file, or a file below the folder. */
  async tracks(name: string): Promise<boolean> {
    const git = gitWith({ cwd: this.root });
    const { stdout } = await git(['ls-files', '-z', '--', `:(top,literal)${this.at(name)}`], { answers: [128] });
    return stdout !== '';
  }

  async names(folder = '.'): Promise<string[]> {
    return this.has(folder) ? await readdir(join(this.root, this.path, folder)).catch(() => []) : [];
  }
}

const DEEPEST = 3;
const MOST_FOLDERS = 300;
/** Folders whose packages are not the project's own: installed, built, or test fixtures. */
const LEFT_OUT =
  /^([._].*|node_modules|benchmarks?|bench|fuzz|scripts|website|e2e|[\w-]+-tests?|vendor|target|dist|build|out|coverage|venv|env|third_party|examples?|samples?|fixtures|testdata|tests?|__tests__|templates?|docs)$/i;

/** The subfolders that may contain a separate package, nearest first, up to a limit. */
export async function subfolders(root: string): Promise<Folder[]> {
  const found: Folder[] = [];
  let level = [''];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      if (found.length >= MOST_FOLDERS) return found;
      const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
        if (entry.isDirectory() && !LEFT_OUT.test(entry.name))
          next.push(path === '' ? entry.name : `${path}/${entry.name}`);
    }
    found.push(...next.map((path) => new Folder(root, path)));
    level = next;
  }
  return found.slice(0, MOST_FOLDERS);
}
