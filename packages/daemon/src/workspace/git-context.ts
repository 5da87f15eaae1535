import { mkdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { AppError, type MergeLoss, type PushSetting } from '@tidemill/contract';
import { type Blobs, openBlobs } from '../git/blobs.ts';
import type { RawChange } from '../git/output.ts';
import { type Git, gitWith } from '../git/program.ts';
import { checkTarget, inspectRepository, type RepositoryInfo } from '../git/repository.ts';
import { openResolver, type Resolver } from '../git/resolver.ts';
import { worktreeName } from '../git/worktree-name.ts';
import type { Clock, WorktreeRef } from '../ports.ts';
import { keyedLocks, type Lock, makeLock } from './lock.ts';
import { withoutNamedPipes } from './named-pipes.ts';
import { OWN_HEADS } from './ref.ts';
import type { FoundDestination } from './remote.ts';
import { pastStaleLocks } from './stale-lock.ts';

export interface WorkspaceOptions {
  root: string;
  target: string;
  /** This project's own folder, outside the repository: nothing else may live in its `worktrees`. */
  dataDir: string;
  landing: 'squash' | 'rebase' | 'merge';
  push: PushSetting;
  /** How long a fetch or a push may take. */
  remoteLimitMs?: number;
  clock: Clock;
  /** Called with a worktree's folder before it is removed. */
  beforeRemoval?(folder: string): Promise<void>;
  /** Why the repository belongs to another data folder now, if it does. */
  takenOver?(): Promise<string | null>;
}

/** The paths and refs of a task. All except the registration (`admin`) follow from its number and branch. */
export interface TaskPaths extends WorktreeRef {
  name: string;
  path: string;
  branchRef: string;
  /** The branch's tip as set by the engine. An agent may move the branch, but not this ref. */
  tipRef: string;
  /**
   * The engine's own index. Agents lock, corrupt and hide files in theirs (assume-unchanged, skip-worktree), so theirs
   * is only written, to match the branch, never trusted.
   */
  index: string;
  /** Exists while the files are not an agent's work: a candidate is checked out, or a checkout was interrupted. */
  marker: string;
}

/** A task whose worktree is registered with git at `admin` (`.git/worktrees/NAME`). */
export interface RegisteredWorktree extends TaskPaths {
  admin: string;
}

export interface GitContext {
  options: WorkspaceOptions;
  info: RepositoryInfo;
  clock: Clock;
  dataDir: string;
  targetRef: string;
  resolver: Resolver;
  blobs: Blobs;
  /** git on the shared repository. */
  git: Git;
  /** git in a task's worktree, by default on the engine's index. */
  gitAt(place: RegisteredWorktree, index?: string): Git;
  pathsOf(task: WorktreeRef): TaskPaths;
  /** For operations that git cannot do concurrently: registering worktrees, deleting refs. */
  shared: Lock;
  /** The merge queue's last step: one landing at a time. */
  landing: Lock;
  perTask: (key: string) => Lock;
  mergeBase(a: string, b: string): Promise<string>;
  /** The merge base of two commits, if it was asked for or learned before. */
  knownMergeBase(a: string, b: string): string | undefined;
  /** For a base that follows from how a commit was made. */
  learnMergeBase(a: string, b: string, base: string): Promise<void>;
  /** Caches the result under the key. */
  changes(key: string, ask: () => Promise<RawChange[]>): Promise<RawChange[]>;
  /** Caches what merges of the target lost, by branch tip and target. */
  losses(key: string, ask: () => Promise<MergeLoss[]>): Promise<MergeLoss[]>;
  target(): Promise<string>;
  /** The target's remote, as found under the git settings with this stamp. */
  destination: FoundDestination | null;
  /** What the agent's index looked like when the engine last wrote it. */
  indexStamps: Map<string, string>;
  /** The tree of an index of ours, and what that index looked like: the same files are not hashed into trees twice. */
  indexTrees: Map<string, { stamp: string; tree: string }>;
  /** A number never used before in this process, for names. */
  next(): number;
}

export async function openGitContext(options: WorkspaceOptions): Promise<GitContext> {
  const [info, author] = await Promise.all([inspectRepository(options.root), identity(options.root)]);
  checkTarget(info, options.target);
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  if (`${dataDir}${sep}`.startsWith(`${info.root}${sep}`)) {
    throw new AppError('bad_config', `the data folder ${dataDir} is inside the repository ${info.root}`, {
      hint: 'Set TIDEMILL_HOME to a folder outside the repository.',
    });
  }
  for (const part of ['worktrees', 'proofs', 'index', 'trash']) await mkdir(join(dataDir, part), { recursive: true });
  const env = { ...author, ...ownerMark(dataDir) };
  // Refs below these belong to the engine; so does a worktree's own folder, and all of the data folder.
  const ownRefs = ['refs/tidemill/', 'refs/heads/task/'].map((prefix) => join(info.commonDir, prefix));
  const targetLock = join(info.commonDir, `refs/heads/${options.target}.lock`);
  const ours = (lock: string) =>
    lock !== targetLock && [...ownRefs, dataDir + sep].some((start) => lock.startsWith(start));
  const shared = gitWith({ cwd: info.commonDir, env: { ...env, GIT_DIR: info.commonDir } });
  const git = pastStaleLocks(shared, options.clock, ours);
  const resolver = openResolver(info.commonDir);
  const blobs = openBlobs(info.commonDir);
  const locks = keyedLocks();
  const targetRef = `refs/heads/${options.target}`;
  const bases = remember<string>(1000);
  let used = 0;
  return {
    options,
    info,
    dataDir,
    targetRef,
    resolver,
    blobs,
    git,
    clock: options.clock,
    gitAt: (place, index = place.index) => {
      const at = { GIT_DIR: place.admin, GIT_WORK_TREE: place.path, GIT_INDEX_FILE: index };
      const isOurs = (lock: string) => ours(lock) || lock.startsWith(place.admin + sep);
      const git = pastStaleLocks(gitWith({ cwd: place.path, env: { ...env, ...at } }), options.clock, isOurs);
      return withoutNamedPipes(git, place.path);
    },
    pathsOf: (task) => placeOf(dataDir, task),
    shared: makeLock(),
    landing: makeLock(),
    perTask: locks,
    mergeBase: async (a, b) => (a === b ? a : bases.get(`${a} ${b}`, () => askMergeBase(git, a, b))),
    knownMergeBase: (a, b) => bases.known(`${a} ${b}`),
    learnMergeBase: (a, b, base) => bases.get(`${a} ${b}`, async () => base).then(() => undefined),
    changes: remember<RawChange[]>(20).get,
    destination: null,
    losses: remember<MergeLoss[]>(50).get,
    async target() {
      const [oid] = await resolver.resolve([`${targetRef}^{commit}`]);
      if (oid) return oid;
      throw new AppError('git_failed', `the target branch ${options.target} is missing in ${info.root}`, {
        hint: `Create it again (git branch ${options.target} COMMIT), or change \`target\` in the config.`,
      });
    },
    indexStamps: new Map(),
    indexTrees: new Map(),
    next: () => used++,
  };
}

/** Marks the git processes of this daemon, so that its successor can wait for the ones it left behind. */
export const OWNER_VARIABLE = 'TIDEMILL_GIT_OWNER';
const ownerMark = (dataDir: string) => ({ [OWNER_VARIABLE]: `${process.pid}:${dataDir}` });

function placeOf(dataDir: string, task: WorktreeRef): TaskPaths {
  const name = worktreeName(task.branch);
  return {
    number: task.number,
    branch: task.branch,
    name,
    path: join(dataDir, 'worktrees', name),
    branchRef: `refs/heads/${task.branch}`,
    tipRef: `${OWN_HEADS}${task.branch}`,
    index: join(dataDir, 'index', name),
    marker: join(dataDir, 'index', `${name}.unsettled`),
  };
}

/**
 * Whose name the commits carry: the person's as configured when the daemon started, else Tidemill's. It is fixed here
 * because an agent's `git config user.name` writes to the configuration all worktrees share.
 */
async function identity(root: string): Promise<Record<string, string>> {
  const asked = ['config', '-z', '--get-regexp', '^user\\.(name|email)$'];
  const { stdout } = await gitWith({ cwd: root })(asked, { answers: [1] });
  // Each is `key\nvalue`; of several of one key the last counts.
  const entries = stdout.split('\0').map((entry) => entry.split('\n'));
  const last = (key: string) => entries.findLast((entry) => entry[0] === key)?.[1]?.trim() ?? '';
  const [name, email] = [last('user.name'), last('user.email')];
  const env = process.env;
  const author = { name: env.GIT_AUTHOR_NAME || name || 'Tidemill', email: env.GIT_AUTHOR_EMAIL || email };
  const committer = { name: env.GIT_COMMITTER_NAME || name || 'Tidemill', email: env.GIT_COMMITTER_EMAIL || email };
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email || 'tidemill@localhost',
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email || 'tidemill@localhost',
  };
}

/** The merge base of two commits never changes, so it is cached. */
async function askMergeBase(git: Git, a: string, b: string): Promise<string> {
  const found = (await git(['merge-base', a, b], { answers: [1] })).stdout.trim();
  if (found) return found;
  throw new AppError('git_failed', `the commits ${a.slice(0, 10)} and ${b.slice(0, 10)} have no common history`, {
    hint: 'The target branch was replaced by an unrelated one. Cancel the task and add it again.',
  });
}

interface Remembered<T> {
  get(key: string, ask: () => Promise<T>): Promise<T>;
  known(key: string): T | undefined;
}

/** A cache for results that never change. The oldest entries are removed. */
function remember<T>(limit: number): Remembered<T> {
  const known = new Map<string, T>();
  return {
    async get(key, ask) {
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const answer = await ask();
      if (known.size >= limit) known.delete(known.keys().next().value!);
      known.set(key, answer);
      return answer;
    },
    known: (key) => known.get(key),
  };
}
