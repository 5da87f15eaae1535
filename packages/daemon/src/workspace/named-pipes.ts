import { constants } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git/program.ts';

/**
 * git opens some files of a worktree by their names alone, and a named pipe in such a place makes it wait for ever. A
 * git call that takes longer than usual triggers a search for such pipes. They are removed: git cannot store them, and
 * they are empty.
 */
const FIRST_LOOK_MS = 1_000;
const MOST_ENTRIES = 500_000;
const OPENED_BY_NAME = new Set(['.gitignore', '.gitattributes', '.gitmodules', '.mailmap']);
/** The files that git reads in a repository, wherever its `.git` points. */
const OF_A_REPOSITORY = new Set([
  'HEAD',
  'commondir',
  'config',
  'config.worktree',
  'gitdir',
  'packed-refs',
  'shallow',
  'alternates',
  'index',
  'exclude',
  'attributes',
  'sparse-checkout',
  'grafts',
]);

export function withoutNamedPipes(git: Git, root: string): Git {
  return async (args, options) => {
    let wait = FIRST_LOOK_MS;
    let timer: NodeJS.Timeout;
    const look = () => {
      wait *= 2;
      void removePipes(root).finally(() => {
        timer = setTimeout(look, wait);
        timer.unref();
        if (isOver) clearTimeout(timer);
      });
    };
    let isOver = false;
    timer = setTimeout(look, wait);
    try {
      return await git(args, options);
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
  };
}

async function removePipes(root: string): Promise<void> {
  const ahead = [root];
  let seen = 0;
  for (let folder = ahead.pop(); folder !== undefined && seen < MOST_ENTRIES; folder = ahead.pop()) {
    // A folder that cannot be read, or is gone by now, is none that git waits in.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) ahead.push(path);
      else if (entry.isFIFO() && isOpenedByGit(path, entry.name)) await release(path);
    }
  }
}

const isOpenedByGit = (path: string, name: string): boolean =>
  OPENED_BY_NAME.has(name) || OF_A_REPOSITORY.has(name) || /\/(\.git|refs)(\/|$)/.test(path);

/** Removes the pipe first, so that it is not opened again, and then releases waiting readers. */
async function release(path: string): Promise<void> {
  const pipe = await open(path, constants.O_RDWR | constants.O_NONBLOCK).catch(() => null);
  await rm(path, { force: true });
  await pipe?.close();
}
