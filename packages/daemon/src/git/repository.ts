import { access, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '@tidemill/contract';
import { type Git, GitError, gitVersion, gitWith } from './program.ts';

export interface RepositoryInfo {
  gitVersion: string;
  /** Top folder of the checkout that was named. */
  root: string;
  /** That checkout's own git folder, and the one all its worktrees share. */
  gitDir: string;
  commonDir: string;
  /** The main worktree's folder; null when the shared repository is bare and has only linked worktrees. */
  mainCheckout: string | null;
  currentBranch: string | null;
  isDetached: boolean;
  isBare: false;
  hasCommits: true;
  hasSubmodules: boolean;
  isShallow: boolean;
  /** Local branches, the current one first, then main, master, trunk, develop, then the rest: candidates for a target. */
  branches: string[];
  remotes: string[];
}

/** The top folder of the checkout around a folder. One that is none is refused as `inspectRepository` does. */
export async function rootOf(path: string): Promise<string> {
  const folder = await existingFolder(path);
  const { code, stdout } = await gitWith({ cwd: folder })(['rev-parse', '--show-toplevel'], { answers: [128] });
  if (code === 0 && stdout.trim() !== '') return stdout.replace(/\n$/, '');
  return (await inspectRepository(folder)).root;
}

/** Looks at a repository and refuses, with what would be right, one in which no work could be done. */
export async function inspectRepository(path: string): Promise<RepositoryInfo> {
  const folder = await existingFolder(path);
  const git = gitWith({ cwd: folder });
  const [version, facts] = await Promise.all([gitVersion(), repositoryFacts(git, folder)]);
  const [bare = '', inTree = '', gitDir = '', common = '', shallow = '', top = ''] = facts;
  if (bare === 'true') {
    throw new AppError('not_a_repository', `${folder} is a bare repository without files`, {
      hint: 'Clone it (`git clone REPOSITORY FOLDER`) and use the clone.',
    });
  }
  if (inTree !== 'true') {
    throw new AppError('not_a_repository', `${folder} is inside a git folder, not in a checkout`, {
      hint: 'Use the folder that contains your files.',
    });
  }
  const commonDir = await realpath(resolve(folder, common));
  const root = await realpath(top);
  const [refs, remotes, mainCheckout] = await Promise.all([
    git(['for-each-ref', '--format=%(HEAD)%(refname:lstrip=2)', 'refs/heads/']),
    git(['remote']),
    mainWorktree(git, { root, gitDir, commonDir }),
  ]);
  const marked = lines(refs.stdout);
  const branches = marked.map((line) => line.slice(1));
  const currentBranch =
    marked.find((line) => line.startsWith('*'))?.slice(1) ?? (await branchWithoutCommits(git, root));
  return {
    gitVersion: version,
    root,
    gitDir: await realpath(gitDir),
    commonDir,
    mainCheckout,
    currentBranch,
    isDetached: currentBranch === null,
    isBare: false,
    hasCommits: true,
    hasSubmodules: await exists(join(root, '.gitmodules')),
    isShallow: shallow === 'true',
    branches: likelyFirst(branches, currentBranch),
    remotes: lines(remotes.stdout),
  };
}

/** Refuses a target that is no local branch, and says which there are. */
export function checkTarget(info: Pick<RepositoryInfo, 'root' | 'branches'>, target: string): void {
  if (info.branches.includes(target)) return;
  const shown = info.branches.slice(0, 8).join(', ');
  throw new AppError('bad_config', `the target branch ${JSON.stringify(target)} does not exist in ${info.root}`, {
    hint: info.branches.length
      ? `Set \`target\` to an existing branch (${shown}), or create it: git branch ${target}`
      : `Create it: git branch ${target}`,
  });
}

async function repositoryFacts(git: Git, folder: string): Promise<string[]> {
  const asked = ['--is-bare-repository', '--is-inside-work-tree', '--absolute-git-dir', '--git-common-dir'];
  // The last of them fails where there is no checkout, after the others were printed.
  const args = ['rev-parse', ...asked, '--is-shallow-repository', '--show-toplevel'];
  const { code, stdout, stderr } = await git(args, { answers: [128] });
  const facts = lines(stdout);
  if (code === 0 || facts.length > asked.length) return facts;
  const error = new GitError(args, code, stderr);
  if (!/not a git repository/i.test(stderr)) throw error;
  throw new AppError('not_a_repository', `${folder} is not in a git repository`, {
    hint: 'Go to your repository, or create one: git init && git add -A && git commit -m "Start"',
    cause: error,
  });
}

/** No branch is checked out: null for a commit, and a refusal where there is none yet. */
async function branchWithoutCommits(git: Git, root: string): Promise<null> {
  const verified = await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'], { answers: [1, 128] });
  if (verified.code === 0) return null;
  const head = await git(['symbolic-ref', '-q', '--short', 'HEAD'], { answers: [1] });
  throw new AppError('no_commits', `${root} has no commits yet${head.code === 0 ? ` on ${head.stdout.trim()}` : ''}`, {
    hint: 'Make a first commit: git add -A && git commit --allow-empty -m "Start"',
  });
}

async function existingFolder(path: string): Promise<string> {
  const folder = await realpath(path).catch(() => null);
  if (folder && (await stat(folder)).isDirectory()) return folder;
  throw new AppError(
    'not_a_repository',
    folder ? `${path} is a file, not a folder` : `the folder ${path} does not exist`,
    {
      hint: 'Use the folder of a git repository.',
    },
  );
}

/** git's own list starts with the main worktree; with a separate git folder it cannot know the path, but we may. */
async function mainWorktree(git: Git, at: { root: string; gitDir: string; commonDir: string }): Promise<string | null> {
  if ((await realpath(at.gitDir)) === at.commonDir) return at.root;
  const { stdout } = await git(['worktree', 'list', '--porcelain', '-z']);
  const fields = stdout.split('\0\0')[0]?.split('\0') ?? [];
  if (fields.includes('bare')) return null;
  const path = fields[0]?.replace(/^worktree /, '') ?? dirname(at.commonDir);
  return realpath(path).catch(() => null);
}

function likelyFirst(branches: string[], current: string | null): string[] {
  const first = [current, 'main', 'master', 'trunk', 'develop'].filter((name) => name !== null);
  return [...new Set([...first.filter((name) => branches.includes(name)), ...branches])];
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
