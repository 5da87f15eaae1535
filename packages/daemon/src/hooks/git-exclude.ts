import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { replaceFile, textOf } from './text-file.ts';

const MARK = '# Added by tidemill hooks install --local';

/** Keeps a person's own files out of git, without a change to a file that others share. False when they were out already. */
export function excludeFromGit(root: string, files: readonly string[]): boolean {
  const file = excludeFile(root);
  const before = textOf(file) ?? '';
  const lines = before.split('\n');
  const missing = files.map((each) => `/${each}`).filter((line) => !lines.includes(line));
  if (missing.length === 0) return false;
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  replaceFile(file, `${before}${gap}${missing.map((line) => `${MARK}\n${line}\n`).join('')}`, 0o644);
  return true;
}

/** Removes what was added. */
export function includeInGit(root: string): void {
  const file = excludeFile(root);
  const before = textOf(file);
  if (!before?.includes(MARK)) return;
  const after = before.replaceAll(new RegExp(`^${MARK}\\n.*\\n?`, 'gm'), '');
  replaceFile(file, after, 0o644);
}

/** A linked worktree has a file `.git`, and uses the list of the main checkout. */
function excludeFile(root: string): string {
  const git = join(root, '.git');
  const folder = statSync(git, { throwIfNoEntry: false })?.isFile()
    ? resolve(
        root,
        readFileSync(git, 'utf8')
          .replace(/^gitdir: /, '')
          .trim(),
      ).replace(/\/worktrees\/[^/]+$/, '')
    : git;
  return join(folder, 'info', 'exclude');
}
