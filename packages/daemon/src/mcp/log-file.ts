import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { AppError, type LogSearch } from '@tidemill/contract';
import { type LogQuery, scanLog } from '../handlers/record/log-scan.ts';

/** As the guard for long logs names them. Other files are not searched: the guards decide who reads them. */
const LOGS = /(^|\/)(logs?\/.*|[^/]+\.(log(\.[^/]+)?|out|trace|jsonl|ndjson))$/i;

/** Linux: a handle on the name, without opening what is behind it. A pipe or a device notices nothing. */
const NAME_ONLY = 0o10000000;
const CAN_WALK = process.platform === 'linux';

/**
 * Searches a file below a folder. An agent controls what is in the folder, and this process may read more than the agent.
 * So the path is judged first, as it is written; then each part of it is looked up in the part before, and no link is
 * followed. Only a plain file is opened.
 */
export async function searchFile(
  folder: string,
  path: string,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogSearch> {
  const root = await realpath(folder);
  const inside = decided(folder, root, path);
  const handle = await openPlain(root, inside, path);
  try {
    return { kind: 'file', id: inside, label: '', note: null, ...(await scanLog(handle, query, signal)) };
  } finally {
    await handle.close();
  }
}

/** The path below the root, by its text alone. A folder may be named by its own path or by its real one. */
function decided(folder: string, root: string, path: string): string {
  const wanted = resolve(root, path);
  const named = relative(resolve(folder), wanted);
  const inside = isBelow(named) ? named : relative(root, wanted);
  if (!isBelow(inside))
    throw new AppError('forbidden', `${path} is not in ${folder}`, { hint: 'Name a file inside the project.' });
  if (!LOGS.test(inside))
    throw new AppError('forbidden', `${path} does not look like a log`, {
      hint: 'Only *.log, *.out, *.trace, *.jsonl, *.ndjson and files in a folder named log or logs are searched here.',
    });
  return inside;
}

const isBelow = (inside: string) => inside !== '' && !inside.startsWith(sep) && inside.split(sep)[0] !== '..';

async function openPlain(root: string, inside: string, said: string): Promise<FileHandle> {
  try {
    return await (CAN_WALK ? walk(root, inside.split(sep), said) : openChecked(root, inside.split(sep), said));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG'].includes(code)) throw error;
    throw new AppError('not_found', `${said} cannot be read (${code})`, {
      hint: 'Name a file by its path in the project.',
    });
  }
}

/** From folder to folder by handles, so that a link placed meanwhile changes nothing. */
async function walk(root: string, parts: string[], said: string): Promise<FileHandle> {
  let at = await open(root, constants.O_DIRECTORY | NAME_ONLY);
  try {
    for (const [index, part] of parts.entries()) {
      const next = await open(join(handlePath(at), part), NAME_ONLY | constants.O_NOFOLLOW);
      await at.close();
      at = next;
      refuseUnlessPlain(await at.stat(), said, index === parts.length - 1);
    }
    return await open(handlePath(at), constants.O_RDONLY);
  } finally {
    await at.close();
  }
}

const handlePath = ({ fd }: FileHandle) => `/proc/self/fd/${fd}`;

/** Without such handles every part is checked, and the file opened right afterwards. */
async function openChecked(root: string, parts: string[], said: string): Promise<FileHandle> {
  let at = root;
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    refuseUnlessPlain(await lstat(at), said, index === parts.length - 1);
  }
  return open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function refuseUnlessPlain(found: Stats, said: string, isLast: boolean): void {
  if (found.isSymbolicLink())
    throw new AppError('forbidden', `${said} is not in the project itself: a link leads there`, {
      hint: 'Name the file by its own path.',
    });
  if (isLast && !found.isFile()) throw new AppError('bad_input', `${said} is not a file`);
}
