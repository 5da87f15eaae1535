import { copyFile, glob, lstat, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Beside the config: one glob a line, as other tools know it. */
const LIST_FILE = '.worktreeinclude';
const MOST_FILES = 1_000;
const MOST_BYTES = 50 * 1024 * 1024;

export interface IncludeOptions {
  root: string;
  /** Globs from the config. */
  globs: string[];
  /** Those of the files that git ignores. Others are never copied: an agent's work would come to hold them. */
  ignored(files: string[]): Promise<string[]>;
  onNote(text: string): void;
}

/** Copies the files from the person's checkout that a worktree needs and git ignores. What is there already stays. */
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
  const listed = await readFile(path.join(root, LIST_FILE), 'utf8').catch(() => '');
  const lines = listed.split('\n').map((line) => line.trim());
  const wanted = [...globs, ...lines.filter((line) => line !== '' && !line.startsWith('#'))];
  if (wanted.length === 0) return [];
  const found = new Set<string>();
  let bytes = 0;
  for await (const file of glob(wanted, { cwd: root, exclude: (name) => name === '.git' || name === 'node_modules' })) {
    const name = path.normalize(file);
    const entry = await lstat(path.join(root, name));
    // A link could lead anywhere, and a name that leads out of the repository is none of its files.
    if (!entry.isFile() || path.isAbsolute(name) || name.split(path.sep)[0] === '..') continue;
    bytes += entry.size;
    if (found.size >= MOST_FILES || bytes > MOST_BYTES) {
      onNote(`include names more than ${MOST_FILES} files or ${MOST_BYTES / 1024 / 1024} MB; the rest is left out`);
      break;
    }
    found.add(name);
  }
  return found.size === 0 ? [] : ignored([...found]);
}
