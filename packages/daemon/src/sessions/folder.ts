import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { gitWith } from '../git/program.ts';

export const SESSIONS_FOLDER = '.claude-sessions';
/** The workers that have files, and the files of each. */
export const WORKER_FILE = /^(agent-\d{1,6}|review-agent)\.(session|response\.md|answer\.json)$/;

/** Creates the folder, and keeps it out of the person's commits. */
export async function prepareFolder(root: string, isExcluded: boolean): Promise<void> {
  if (!isExcluded) await exclude(root);
  await makeFolder(join(root, SESSIONS_FOLDER));
  const fault = await folderFault(root);
  if (fault !== null) throw new AppError('bad_input', fault, { hint: 'Remove it. Tidemill creates the folder.' });
}

/** Never creates the folders above it: a moved repository must be able to return to its path. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Why the folder cannot be used, or null. A link could lead to a place where agents write. */
export async function folderFault(root: string): Promise<string | null> {
  const found = await lstat(join(root, SESSIONS_FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null || found.isDirectory()) return null;
  return `${SESSIONS_FOLDER} is ${found.isSymbolicLink() ? 'a link' : 'not a folder'}`;
}

/** A reader never sees half of it. A link at the path is replaced, not followed. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${path.slice(dirname(path).length + 1)}.${process.pid}.tmp`);
  try {
    await rm(temporary, { force: true });
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // a folder that cannot be written keeps it, too
    throw error;
  }
}

/** In the repository's own list of what git does not look at; a person's .gitignore is theirs. */
async function exclude(root: string): Promise<void> {
  const { stdout } = await gitWith({ cwd: root })([
    'rev-parse',
    '--path-format=absolute',
    '--git-path',
    'info/exclude',
  ]);
  const file = stdout.replace(/\n$/, '');
  const text = await readFile(file, 'utf8').catch(() => '');
  const line = `/${SESSIONS_FOLDER}/`;
  if (text.split('\n').some((each) => each.trim() === line)) return;
  await makeFolder(dirname(file));
  const glue = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeFile(file, `${text}${glue}${line}\n`);
}
