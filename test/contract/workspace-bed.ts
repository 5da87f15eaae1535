import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type GitWorkspace,
  openWorkspace,
  type WorkspaceOptions,
} from '../../packages/daemon/src/workspace/workspace.ts';
import { FolderImage } from '../support/folder-image.ts';

const run = promisify(execFile);

/** A person's git, untouched by this machine's configuration. */
export const personEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  // A commit would start another git that looks whether there is something to tidy.
  ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'maintenance.auto', GIT_CONFIG_VALUE_0: 'false' },
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd, env: personEnv, maxBuffer: 64 << 20 });
  return stdout.replace(/\n$/, '');
}

export async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

export const realClock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

/** A repository with one commit, a data folder beside it, and a workspace over both. */
export interface Bed {
  folder: string;
  root: string;
  dataDir: string;
  workspace: GitWorkspace;
  /** Another workspace on the same folders, as a restarted daemon would open. */
  reopen(options?: Partial<WorkspaceOptions>): Promise<GitWorkspace>;
  remove(): Promise<void>;
}

export const FIRST_FILES = {
  'README.md': 'hello\n',
  'src/a.txt': 'one\ntwo\nthree\n',
  '.gitignore': 'ignored/\n*.log\n',
};

const templates = new Map<string, Promise<FolderImage>>();

/** A repository with one commit of these files, made once per process. */
function template(target: string, files: Record<string, string>): Promise<FolderImage> {
  const key = JSON.stringify([target, files]);
  const known = templates.get(key) ?? makeTemplate(target, files);
  templates.set(key, known);
  return known;
}

async function makeTemplate(target: string, files: Record<string, string>): Promise<FolderImage> {
  const root = await mkdtemp(join(tmpdir(), 'tidemill-bed-'));
  await git(root, 'init', '-q', '--template=', '-b', target);
  await git(root, 'config', 'core.fsync', 'none');
  await mkdir(join(root, '.git', 'hooks'));
  await mkdir(join(root, '.git', 'info'));
  await write(root, files);
  await git(root, 'add', '-A');
  await git(root, 'commit', '-q', '-m', 'Start');
  const image = new FolderImage(root);
  await rm(root, { recursive: true });
  return image;
}

export async function makeBed(
  options: Partial<WorkspaceOptions> & { files?: Record<string, string>; name?: string } = {},
): Promise<Bed> {
  Object.assign(process.env, { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' });
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tidemill-bed-')));
  const root = join(folder, options.name ?? 'repository');
  const dataDir = join(folder, 'data');
  const target = options.target ?? 'main';
  (await template(target, options.files ?? FIRST_FILES)).writeTo(root);
  // The index knows the files of the template; some of git's commands would take these for changed.
  await git(root, 'update-index', '-q', '--refresh');
  const opened: GitWorkspace[] = [];
  const reopen = async (more: Partial<WorkspaceOptions> = {}) => {
    const fixed = {
      root,
      dataDir,
      target,
      landing: options.landing ?? 'squash',
      push: 'target',
      clock: realClock,
    } as const;
    const workspace = await openWorkspace({ ...fixed, ...more });
    opened.push(workspace);
    return workspace;
  };
  return {
    folder,
    root,
    dataDir,
    reopen,
    workspace: await reopen(options.landing ? { landing: options.landing } : {}),
    async remove() {
      for (const workspace of opened.splice(0)) await workspace.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
