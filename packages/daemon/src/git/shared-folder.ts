import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The git folder that all worktrees of a checkout share, found without starting git; null where there is none. */
export async function sharedGitFolder(root: string): Promise<string | null> {
  try {
    const link = resolve(root, '.git');
    if ((await stat(link)).isDirectory()) return await realpath(link);
    const [, to] = /^gitdir: (.+)$/m.exec(await readFile(link, 'utf8')) ?? [];
    if (to === undefined) return null;
    const gitDir = resolve(dirname(link), to.trim());
    const shared = await readFile(resolve(gitDir, 'commondir'), 'utf8').catch(() => '.'); // only a worktree has one
    return await realpath(resolve(gitDir, shared.trim()));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}
