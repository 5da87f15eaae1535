import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { sharedGitFolder } from '../git/shared-folder.ts';
import type { Store } from '../ports.ts';
import { isLockFree } from './lock.ts';

/**
 * Which data folders work on a repository: a file for each in its git folder. The file is only a hint. The lock of the
 * named data folder decides whether a daemon runs, so the file of a killed daemon does no harm.
 */
const FOLDER = 'tidemill/data-folders';

const WorkMark = z.object({
  path: z.string(),
  /** As its workers' ids name it. */
  host: z.string(),
  machine: z.string(),
  pid: z.number(),
  isShared: z.boolean(),
});
type WorkMark = z.infer<typeof WorkMark>;

interface Own {
  path: string;
  /** The store is one that other data folders may use too. */
  isShared: boolean;
}

/** Says in the repository that this process works on it. Returns a function that takes it back. */
export async function markWork(root: string, own: Own & { host: string }): Promise<() => Promise<void>> {
  const common = await sharedGitFolder(root);
  if (common === null) return async () => undefined;
  const { path, host, isShared } = own;
  const mark: WorkMark = { path, host, machine: hostname(), pid: process.pid, isShared };
  const file = join(common, FOLDER, `${createHash('sha256').update(path).digest('hex').slice(0, 16)}.json`);
  await mkdir(join(common, FOLDER), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(mark));
  await rename(`${file}.new`, file);
  return () => rm(file, { force: true });
}

/** A warning for each other daemon that works on the repository with data of its own. */
export async function otherFolders(
  root: string,
  own: Own,
  /** Finds the project's workers in this store; absent where no store is open. */
  workers?: () => ReturnType<Store['workers']>,
): Promise<string[]> {
  const common = await sharedGitFolder(root);
  const others = common === null ? [] : (await marksIn(join(common, FOLDER))).filter((mark) => isLive(mark, own));
  const mayShare = own.isShared && others.some(({ isShared }) => isShared);
  const here = mayShare && workers ? new Set((await workers()).map(({ host }) => host)) : null;
  // Daemons on one database see each other's workers. Without a store to look into, the benefit of the doubt holds.
  const isSameStore = (mark: WorkMark) => mayShare && mark.isShared && (here === null || here.has(mark.host));
  return others
    .filter((mark) => !isSameStore(mark))
    .map(
      ({ path, pid }) =>
        `another daemon works on this repository with the data folder ${path} (pid ${pid}): both would take tasks and land work without knowing of each other. Stop one of them with \`TIDEMILL_HOME=${path} tidemill stop\`, or let both use one Postgres (DATABASE_URL).`,
    );
}

/** A mark from another machine names a folder that this machine cannot look into. */
function isLive({ path, machine }: WorkMark, own: Own): boolean {
  const lock = join(path, 'lock.db');
  return path !== own.path && machine === hostname() && existsSync(lock) && !isFree(lock);
}

function isFree(lock: string): boolean {
  try {
    return isLockFree(lock);
  } catch {
    // It is no lock, or belongs to another user: nothing can be said about it.
    return true;
  }
}

async function marksIn(folder: string): Promise<WorkMark[]> {
  const names = await readdir(folder).catch(() => []); // no daemon has worked on it
  const marks = await Promise.all(
    names.filter((name) => name.endsWith('.json')).map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  return marks.flatMap((text) => {
    const mark = WorkMark.safeParse(parsed(text));
    return mark.success ? [mark.data] : [];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Cut short by a full disk, or another program's file.
    return null;
  }
}
