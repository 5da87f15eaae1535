import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

/** What Claude Code sends to a hook. Only what is used here. */
export type HookInput = Record<string, unknown>;

/** Where the session works. */
export interface SessionPlace {
  worktree: string;
  /** The main checkout. In a linked worktree it is another folder. Tidemill knows the project by it. */
  root: string;
  dataDir: string;
  session: string;
}

export function parsedHook(text: string): HookInput {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("standard input is not JSON; expected Claude Code's hook input");
  }
  if (!isRecord(value)) throw new Error('standard input is not a JSON object');
  return value;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The folder must be absolute, because the hook's own folder says nothing about the session. */
export function placeOf(hook: HookInput, env: NodeJS.ProcessEnv): SessionPlace {
  const { cwd, session_id: session } = hook;
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) throw new Error('the hook input has no absolute cwd');
  const worktree = worktreeOf(env.CLAUDE_PROJECT_DIR || cwd);
  const dataDir = resolve(env.TIDEMILL_HOME || join(homedir(), '.tidemill'));
  const name = typeof session === 'string' ? session.replace(/[^\w.-]/g, '').slice(0, 100) : '';
  return { worktree, root: mainCheckout(worktree), dataDir, session: name };
}

/** The top folder of the checkout, found without git, because starting git takes longer than everything else here. */
function worktreeOf(folder: string): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return resolve(folder);
  }
}

/** A linked worktree has a file `.git` with a line `gitdir: /main/.git/worktrees/NAME`. */
function mainCheckout(worktree: string): string {
  const git = join(worktree, '.git');
  const found = statSync(git, { throwIfNoEntry: false });
  const target = found?.isFile()
    ? /^gitdir: (.+)\/\.git\/worktrees\/[^/]+$/m.exec(readFileSync(git, 'utf8'))?.[1]
    : null;
  const root = target ? resolve(worktree, target) : worktree;
  return existsSync(root) ? realpathSync(root) : root;
}
