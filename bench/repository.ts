import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDERS = 10;
const FILES_PER_FOLDER = 20;

export async function git(cwd: string, ...args: string[]): Promise<string> {
  return (await run('git', args, { cwd })).stdout.trim();
}

/** A repository with 200 files on `main`, the size of a small program. */
export async function makeRepository(root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  await git(root, 'init', '-q', '-b', 'main');
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    await mkdir(join(root, `lib-${folder}`));
    for (let file = 0; file < FILES_PER_FOLDER; file += 1) {
      const lines = Array.from({ length: 40 }, (_, line) => `export const value${line} = ${folder * file + line};`);
      await writeFile(join(root, `lib-${folder}`, `part-${file}.js`), `${lines.join('\n')}\n`);
    }
  }
  await git(root, 'add', '-A');
  await git(root, 'commit', '-q', '-m', 'Start');
}

/** The one change every task of the bench makes, with or without Tidemill. */
export async function changeOf(worktree: string, number: number | string): Promise<void> {
  await writeFile(join(worktree, `change-${number}.js`), `export const change = '${number}';\n`);
}
