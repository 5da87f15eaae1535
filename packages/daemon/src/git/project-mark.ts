import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gitWith } from './program.ts';

/** In git's own config of the repository: no tracked file, moved along with it, not copied by a clone. */
const KEY = 'tidemill.project';
const ATTEMPTS = 5;
const PAUSE_MS = 20;

/** The project that a repository is marked as; null for none, and where there is no repository. */
export async function readMark(root: string): Promise<string | null> {
  if (!(await isFolder(root))) return null;
  const { code, stdout } = await gitWith({ cwd: root })(['config', '--local', '--get', KEY], { answers: [1, 128] });
  return code === 0 ? stdout.trim() || null : null;
}

export async function writeMark(root: string, projectId: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await gitWith({ cwd: root })(['config', '--local', '--replace-all', KEY, projectId]);
      return;
    } catch (error) {
      // Another process holds git's lock on the file, and may write the same.
      if (attempt === ATTEMPTS) throw error;
      await setTimeout(PAUSE_MS);
      if ((await readMark(root)) === projectId) return;
    }
  }
}

/** Where the history of a repository begins; null while nobody can know, as in a shallow clone. */
export async function firstCommit(root: string): Promise<string | null> {
  const git = gitWith({ cwd: root });
  const { stdout: shallow } = await git(['rev-parse', '--is-shallow-repository']);
  if (shallow.trim() === 'true') return null;
  const { code, stdout } = await git(['rev-list', '--max-parents=0', 'HEAD'], { answers: [128] });
  return code === 0 ? (stdout.trim().split('\n').at(-1) ?? null) : null;
}

/** Whether two folders are worktrees of one repository. */
export async function shareRepository(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(commonDir));
  return first === second;
}

async function commonDir(root: string): Promise<string> {
  const { stdout } = await gitWith({ cwd: root })(['rev-parse', '--git-common-dir']);
  return realpath(resolve(root, stdout.trim()));
}

/** A file, a missing folder and one that cannot be read are no repository. */
const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
