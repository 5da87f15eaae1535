import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type Project } from '@tidemill/contract';
import { z } from 'zod';
import { sharedGitFolder } from '../git/shared-folder.ts';
import { isLockFree, takeLock } from './lock.ts';

/**
 * The data folder that works on a repository, named in its git folder. Another one is refused: both would take tasks and
 * land work without knowing of each other. Data folders that share one Postgres know of each other, and count as one.
 */
const FILE = 'tidemill/owner.json';
const LOCK = 'tidemill/owner.lock';
const LOCK_ATTEMPTS = 100;
const LOCK_PAUSE_MS = 20;

const Mark = z.object({
  folder: z.string(),
  id: z.string(),
  machine: z.string(),
  /** Where the mark was written: a copy of the repository takes it along. */
  gitFolder: z.string(),
  /** Identifies the project in a store that data folders share; null for a store in the data folder. */
  store: z.string().nullable(),
});
type Mark = z.infer<typeof Mark>;

export interface Owner {
  path: string;
  id: string;
  /** As in the mark. Undefined: not known, so that a shared store gets the benefit of the doubt. */
  store: string | null | undefined;
}

type Found = { kind: 'ours' } | { kind: 'free' } | { kind: 'other'; mark: Mark } | { kind: 'unreadable'; file: string };

/** Two stores that know the same repository registered it at different times. */
export const sharedStore = ({ id, createdAt }: Project): string =>
  createHash('sha256').update(`${id} ${createdAt}`).digest('hex').slice(0, 16);

/** Says in the repository that this data folder works on it. Returns why not, if another one does. */
export async function claimRepository(root: string, own: Owner, takeOver = false): Promise<AppError | null> {
  const gitFolder = await sharedGitFolder(root);
  if (gitFolder === null) return null;
  const found = await look(gitFolder, own);
  if (found.kind === 'ours') return null;
  const refusal = refusalOf(root, found);
  if (refusal && !takeOver) return refusal;
  await mkdir(join(gitFolder, 'tidemill'), { recursive: true, mode: 0o700 });
  // Two daemons that start at once both find it free.
  return locked(join(gitFolder, LOCK), async () => {
    const now = await look(gitFolder, own);
    if (now.kind === 'ours') return null;
    const refused = refusalOf(root, now);
    if (refused && !takeOver) return refused;
    if (now.kind === 'other' && isWorking(now.mark)) return stillWorks(root, now.mark);
    await write(gitFolder, own);
    return null;
  });
}

/** Why this data folder may not work on the repository; null when it may. Nothing is written. */
export async function otherOwner(root: string, own: Owner): Promise<AppError | null> {
  const gitFolder = await sharedGitFolder(root);
  return gitFolder === null ? null : refusalOf(root, await look(gitFolder, own));
}

async function look(gitFolder: string, own: Owner): Promise<Found> {
  const file = join(gitFolder, FILE);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== 'string') return text.code === 'ENOENT' ? { kind: 'free' } : { kind: 'unreadable', file };
  const mark = parsed(text);
  if (mark === null) return { kind: 'unreadable', file };
  const other: Found = { kind: 'other', mark };
  if (await isCopy(gitFolder, mark)) return { kind: 'free' };
  if (mark.store !== null) return own.store === undefined || own.store === mark.store ? { kind: 'ours' } : other;
  const isElsewhere = mark.folder !== own.path && (await isFolderThere(mark));
  if (mark.id === own.id) {
    if (isElsewhere && !(await isSameFile(mark.folder, own.path))) return other; // a copy of the data folder
    const isCurrent = mark.folder === own.path && mark.gitFolder === gitFolder && own.store === null;
    return { kind: isCurrent ? 'ours' : 'free' };
  }
  const isGone = mark.machine === hostname() && !(await isFolderThere(mark));
  return isGone ? { kind: 'free' } : other;
}

function parsed(text: string): Mark | null {
  try {
    return Mark.parse(JSON.parse(text));
  } catch {
    // Cut short by a full disk, or another program's file: a person decides.
    return null;
  }
}

/** The repository that the mark was written for is still elsewhere, with the same mark. */
async function isCopy(gitFolder: string, mark: Mark): Promise<boolean> {
  if (mark.gitFolder === gitFolder) return false;
  const original = join(mark.gitFolder, FILE);
  const there = parsed(await readFile(original, 'utf8').catch(() => ''));
  return there?.gitFolder === mark.gitFolder && !(await isSameFile(original, join(gitFolder, FILE)));
}

/** Whether the data folder is still where the mark says. One that cannot be looked into is there. */
async function isFolderThere({ folder, id }: Mark): Promise<boolean> {
  try {
    return (await readFile(join(folder, 'home.id'), 'utf8')).trim() === id;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** The same file or folder by two names, as through a link or a mount. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  return first != null && second != null && first.ino === second.ino && first.dev === second.dev;
}

async function write(gitFolder: string, { path, id, store }: Owner): Promise<void> {
  const mark: Mark = { folder: path, id, machine: hostname(), gitFolder, store: store ?? null };
  const file = join(gitFolder, FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(mark, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const lock = takeLock(file);
    if (lock) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (attempt === LOCK_ATTEMPTS)
      throw new AppError('daemon_running', `another daemon is just starting on the repository of ${file}`, {
        hint: 'Try again in a moment.',
        retriable: true,
      });
    await delay(LOCK_PAUSE_MS);
  }
}

/** A daemon on another machine cannot be looked for. */
function isWorking({ folder, machine }: Mark): boolean {
  const lock = join(folder, 'lock.db');
  if (machine !== hostname() || !existsSync(lock)) return false;
  try {
    return !isLockFree(lock);
  } catch {
    // It is no lock, or belongs to another user: nothing can be said about it.
    return false;
  }
}

const TAKE_OVER =
  'run `tidemill up --take-over` here. The tasks of the other data folder stay there, and it no longer works on this repository';

function refusalOf(root: string, found: Found): AppError | null {
  if (found.kind === 'unreadable')
    return new AppError(
      'conflict',
      `${found.file} cannot be read, so nobody knows which data folder works on ${root}`,
      {
        hint: `If no other one does, ${TAKE_OVER}.`,
      },
    );
  if (found.kind !== 'other') return null;
  const { folder, machine, store } = found.mark;
  const at = machine === hostname() ? '' : ` on ${machine}`;
  const whose = store === null ? `the data folder ${folder}${at}` : `a shared Postgres (data folder ${folder}${at})`;
  const use = store === null ? `Use that one (TIDEMILL_HOME=${folder} tidemill up)` : 'Set DATABASE_URL to use it';
  return new AppError(
    'conflict',
    `another data folder works on ${root}: it belongs to ${whose}. Two would take tasks and land work without knowing of each other`,
    { hint: `${use}, let both use one Postgres (DATABASE_URL), or take the repository over: ${TAKE_OVER}.` },
  );
}

const stillWorks = (root: string, { folder }: Mark) =>
  new AppError('conflict', `the daemon of the data folder ${folder} runs, so ${root} cannot be taken over from it`, {
    hint: `Stop it first with \`TIDEMILL_HOME=${folder} tidemill stop\`.`,
    retriable: true,
  });
