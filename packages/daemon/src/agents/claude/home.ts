import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * The folder for Claude Code's sessions and settings: one per worktree, and another for read-only modes, so that no
 * agent finds files that another one planted. The person's own folder is not used, because hooks in its settings would
 * run as that person. Only the login is taken from it.
 */
export interface ClaudeHome {
  path: string;
  env: Record<string, string>;
  hidden: string[];
  writable: string[];
}

const WORKTREE_FILE = 'worktree';

export interface HomeRequest {
  dataDir: string;
  worktree: string;
  isReader: boolean;
  env: Record<string, string>;
}

export async function prepareHome({ dataDir, worktree, isReader, env }: HomeRequest): Promise<ClaudeHome> {
  const all = path.join(dataDir, 'claude');
  const hash = createHash('sha256').update(worktree).digest('hex').slice(0, 16);
  const own = path.join(all, isReader ? `${hash}-reader` : hash);
  const config = path.join(own, 'config');
  await mkdir(config, { recursive: true, mode: 0o700 });
  await writeFile(path.join(own, WORKTREE_FILE), worktree);
  // The login is in a file of the person's Claude Code or in the system's keychain.
  const given = env.CLAUDE_CONFIG_DIR ?? '';
  const folder = given || path.join(env.HOME ?? homedir(), '.claude');
  return {
    path: config,
    env: { CLAUDE_CONFIG_DIR: config, CLAUDE_SECURESTORAGE_CONFIG_DIR: given },
    // The vendor's program renews a login by a new file in place of the old, and where that cannot be, as on a file
    // that is mounted, by writing into it. So the folder is an empty one of the sandbox's own, with only that file in
    // it.
    hidden: [folder],
    writable: [config, path.join(folder, '.credentials.json')],
  };
}

export async function hasSession(home: ClaudeHome, session: string): Promise<boolean> {
  const files = await readdir(path.join(home.path, 'projects'), { recursive: true }).catch(() => []);
  return files.some((file) => path.basename(file) === `${session}.jsonl`);
}

/** Removes the folders of worktrees that no longer exist. */
export async function forgetOldHomes(dataDir: string): Promise<void> {
  const all = path.join(dataDir, 'claude');
  for (const name of await readdir(all).catch(() => [])) {
    const worktree = await readFile(path.join(all, name, WORKTREE_FILE), 'utf8').catch(() => null);
    if (worktree === null || (await stat(worktree).catch(() => null))) continue;
    await rm(path.join(all, name), { recursive: true, force: true });
  }
}
