import { type ChildProcess, spawn } from 'node:child_process';
import { sep } from 'node:path';
import { AppError } from '@tidemill/contract';

export interface GitOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string | Buffer;
  /** Limit of the output. Beyond it git is stopped and the result is marked. */
  maxBytes?: number;
  /** Exit codes that count as success, in addition to 0. */
  answers?: number[];
  signal?: AbortSignal;
}

export interface GitResult {
  code: number;
  stdout: string;
  /** The same, for content that need not be text. */
  bytes: Buffer;
  stderr: string;
  truncated: boolean;
}

export type Git = (args: string[], options?: GitOptions) => Promise<GitResult>;

/** Keeps git's output, so that callers can distinguish a refusal from a failure. */
export class GitError extends AppError {
  readonly exitCode: number | null;
  readonly stderr: string;
  constructor(args: string[], exitCode: number | null, stderr: string) {
    const full = /No space left on device|Out of diskspace|Disk quota exceeded/i.test(stderr);
    const said = stderr.trim().split('\n').slice(0, 12).join('\n') || `exit code ${exitCode}`;
    super(full ? 'disk_full' : 'git_failed', `git ${args[0] ?? ''} failed: ${said}`, {
      hint: full ? 'Free some disk space. The work then continues.' : hintFor(stderr),
      retriable: full || /\.lock': File exists|unable to (create|lock)|Resource temporarily unavailable/i.test(stderr),
    });
    this.name = 'GitError';
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

function hintFor(stderr: string): string {
  const lock = /Unable to create '(.+?\.lock)'/.exec(stderr)?.[1];
  if (lock) return `another git command may be running; if none is, remove ${lock}`;
  if (stderr.includes('dubious ownership'))
    return 'the repository belongs to another user; see `git help config`, safe.directory';
  if (/external filter|git-lfs: not found|git-lfs: command not found/.test(stderr))
    return 'a filter that .gitattributes names cannot run; install its program, such as git-lfs';
  if (/bad config|bad numeric config/i.test(stderr)) return 'repair the git config file that is named';
  if (/object file .* is empty|loose object .* is corrupt|bad object/i.test(stderr))
    return 'run `git fsck` in the repository';
  return 'the text above is what git itself said';
}

/**
 * Settings every call carries. Hooks, fsmonitor and external diff programs are configuration that an agent with write
 * access could have planted, so none of them is run; housekeeping never starts behind the engine's back.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.splitIndex=false',
  'core.safecrlf=false',
  'core.quotePath=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'rerere.enabled=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'status.submoduleSummary=false',
  'diff.ignoreSubmodules=dirty',
  'submodule.recurse=false',
  'advice.detachedHead=false',
  'advice.addEmbeddedRepo=false',
  // How long git itself waits for another git that deletes or packs refs.
  'core.packedRefsTimeout=3000',
].flatMap((setting) => ['-c', setting]);

/** Variables by which a surrounding git (a hook, an alias) would point us at another repository or index. */
const FOREIGN = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_PREFIX',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_REPLACE_REF_BASE',
  'GIT_EXTERNAL_DIFF',
  'GIT_QUARANTINE_PATH',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_LITERAL_PATHSPECS',
  'GIT_TRACE',
]);

export function gitEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) if (!FOREIGN.has(name)) env[name] = value;
  return {
    ...env,
    LC_ALL: 'C',
    LANGUAGE: '',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_EDITOR: 'true',
    GIT_PAGER: 'cat',
    ...extra,
  };
}

export const gitArgs = (args: string[]): string[] => [...SETTINGS, ...args];

const MAX_STDERR = 64 * 1024;
const MAX_STDOUT = 64 * 1024 * 1024;

/** Runs git with `base` under each call's own environment. Rejects with GitError unless the exit code is an answer. */
export function gitWith(base: { cwd?: string; env?: Record<string, string> }): Git {
  return (args, options = {}) =>
    run(args, { ...options, cwd: options.cwd ?? base.cwd, env: { ...base.env, ...options.env } });
}

/** Running git processes, with the folders whose files each of them may write, and when each was asked to end. */
const running = new Map<ChildProcess, { paths: string[]; endedAt: number | null }>();
/** git that was asked to end removes what it has made, which takes long where these are many files. */
const TIDYING_MS = 2000;

/**
 * Ends git where it works on files below this folder: a checkout of many files takes minutes, and a daemon that stops does
 * not wait for it. The next start discards such a half-made checkout. git in a person's own checkout is never ended.
 */
export function endGitBelow(folder: string): void {
  const isBelow = (path: string) => path.startsWith(folder + sep);
  for (const [child, git] of running) {
    if (!git.paths.some(isBelow)) continue;
    git.endedAt ??= performance.now();
    endGroup(child, performance.now() - git.endedAt < TIDYING_MS ? 'SIGTERM' : 'SIGKILL');
  }
}

/** With the programs that git started, such as filters: they hold its output open. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it ended just now
  }
}

function run(args: string[], options: GitOptions): Promise<GitResult> {
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  const child = spawn('git', gitArgs(args), {
    cwd: options.cwd,
    env: gitEnv(options.env),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A session of its own: Ctrl-C or a kill of the daemon's group must not cut git short, and it has no terminal to
    // ask on.
    detached: true,
    signal: options.signal,
  });
  // `worktree add` runs in the repository and names the folder that it makes.
  const paths = [options.env?.GIT_WORK_TREE ?? options.cwd ?? '', ...(args[0] === 'worktree' ? args : [])];
  running.set(child, { paths, endedAt: null });
  child.once('close', () => running.delete(child));
  child.once('error', () => running.delete(child));
  const out = gather(options.maxBytes ?? MAX_STDOUT, () => child.kill());
  const err = gather(MAX_STDERR, () => undefined);
  child.stdout!.on('data', out.add);
  child.stderr!.on('data', err.add);
  // git may end before it has read all of its input; its exit code tells, not the broken pipe.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.input);
  child.once('error', (error: NodeJS.ErrnoException) => reject(spawnFailure(error, args, options.cwd)));
  child.once('close', (code) => {
    const bytes = out.bytes();
    const result = {
      code: code ?? 0,
      stdout: bytes.toString(),
      bytes,
      stderr: err.bytes().toString(),
      truncated: out.full(),
    };
    if (out.full() && options.maxBytes !== undefined) resolve(result);
    else if (code === 0 || (code !== null && options.answers?.includes(code))) resolve(result);
    else if (out.full()) reject(new AppError('too_large', `git ${args[0]} printed more than ${MAX_STDOUT} bytes`));
    else reject(new GitError(args, code, result.stderr || result.stdout.slice(0, 2000)));
  });
  return promise;
}

function gather(max: number, onFull: () => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  let full = false;
  return {
    add(chunk: Buffer) {
      if (full) return;
      const room = max - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(room, chunk.length);
      if (chunk.length > room) {
        full = true;
        onFull();
      }
    },
    full: () => full,
    bytes: () => Buffer.concat(chunks),
  };
}

function spawnFailure(error: NodeJS.ErrnoException, args: string[], cwd: string | undefined): Error {
  if (error.name === 'AbortError') return error;
  // Node reports a missing working directory with the same code as a missing program.
  if (error.code === 'ENOENT') {
    return new AppError('git_failed', `the program git could not be started${cwd ? ` in ${cwd}` : ''}`, {
      hint: 'Install git 2.38 or newer, check that it is on the PATH and that the folder exists.',
      cause: error,
    });
  }
  return new AppError('git_failed', `git ${args[0]} could not be started: ${error.message}`, {
    retriable: true,
    cause: error,
  });
}

/** `merge-tree --write-tree` came with 2.38; without it no candidate can be made without touching files. */
const OLDEST_GIT = [2, 38] as const;

export async function gitVersion(): Promise<string> {
  const { stdout } = await run(['--version'], {});
  const found = /(\d+)\.(\d+)[\d.]*/.exec(stdout);
  const [major, minor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  if (major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1])) {
    throw new AppError('git_failed', `git ${found?.[0] ?? stdout.trim()} is too old`, {
      hint: `Install git ${OLDEST_GIT.join('.')} or newer.`,
    });
  }
  return found?.[0] ?? stdout.trim();
}
