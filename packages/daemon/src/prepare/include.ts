import { copyFile, glob, lstat, mkdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

/**
 * A list in addition to the config, with one glob per line, as in other tools. It is a person's: the integrity gate
 * refuses a task's change of it.
 */
const LIST_FILE = '.worktreeinclude';
const MOST_FILES = 1_000;
const MOST_BYTES = 50 * 1024 * 1024;

export interface IncludeOptions {
  root: string;
  /** Globs from the config. */
  globs: string[];
  /**
   * Returns those of the files that git ignores. Others are never copied, because they would be committed with an
   * agent's work.
   */
  ignored(files: string[]): Promise<string[]>;
  onNote(text: string): void;
}

/** Copies ignored files that a worktree needs from the person's checkout. Existing files stay. */
export async function copyIncluded(options: IncludeOptions, folder: string): Promise<void> {
  const files = await included(options);
  for (const file of files) {
    const to = path.join(folder, file);
    if (await lstat(to).catch(() => null)) continue;
    await mkdir(path.dirname(to), { recursive: true });
    await copyFile(path.join(options.root, file), to);
  }
}

async function included({ root, globs, ignored, onNote }: IncludeOptions): Promise<string[]> {
  const list = path.join(root, LIST_FILE);
  const isPlain = (await lstat(list).catch(() => null))?.isFile() ?? false;
  const listed = isPlain ? await readFile(list, 'utf8').catch(() => '') : '';
  const lines = listed.split('\n').map((line) => line.trim());
  const wanted = [...globs, ...lines.filter((line) => line !== '' && !line.startsWith('#'))];
  if (wanted.length === 0) return [];
  const found = new Set<string>();
  const real = await realpath(root);
  let bytes = 0;
  for await (const file of glob(wanted, { cwd: root, exclude: (name) => name === '.git' || name === 'node_modules' })) {
    const name = path.normalize(file);
    const entry = await lstat(path.join(root, name));
    // Links are skipped, and so are paths that lead out of the repository.
    if (!entry.isFile() || path.isAbsolute(name) || name.split(path.sep)[0] === '..') continue;
    // A folder in between may be a link, too.
    if ((await realpath(path.join(root, name)).catch(() => '')) !== path.join(real, name)) continue;
    bytes += entry.size;
    if (found.size >= MOST_FILES || bytes > MOST_BYTES) {
      onNote(`include names more than ${MOST_FILES} files or ${MOST_BYTES / 1024 / 1024} MB; the rest is left out`);
      break;
    }
    found.add(name);
  }
  return found.size === 0 ? [] : ignored([...found]);
}
