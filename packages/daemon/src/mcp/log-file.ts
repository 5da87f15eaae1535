import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { AppError, type LogSearch } from '@tidemill/contract';
import { type LogQuery, scanLog } from '../handlers/record/log-scan.ts';

/** As the guard for long logs names them. Other files are not searched: the guards decide who reads them. */
const LOGS = /(^|\/)(logs?\/.*|[^/]+\.(log(\.[^/]+)?|out|trace|jsonl|ndjson))$/i;

/**
 * Searches a file below a folder. An agent controls what is in the folder, and this process may read more than the agent:
 * a link that leads out is refused, also one that is placed between the check and the reading.
 */
export async function searchFile(
  folder: string,
  path: string,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogSearch> {
  const root = await realpath(folder);
  const wanted = resolve(root, path);
  const handle = await openFile(wanted, path);
  try {
    const real = await pathOf(handle, wanted);
    const inside = relative(root, real);
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside))
      throw new AppError('forbidden', `${path} is not in ${folder}`, { hint: 'Name a file inside the project.' });
    if (!LOGS.test(inside))
      throw new AppError('forbidden', `${path} does not look like a log`, {
        hint: 'Only *.log, *.out, *.trace, *.jsonl, *.ndjson and files in a folder named log or logs are searched here.',
      });
    if (!(await handle.stat()).isFile()) throw new AppError('bad_input', `${path} is not a file`);
    return { kind: 'file', id: inside, label: '', note: null, ...(await scanLog(handle, query, signal)) };
  } finally {
    await handle.close();
  }
}

async function openFile(file: string, said: string): Promise<FileHandle> {
  try {
    // Without waiting: a pipe that nobody writes to would block.
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG'].includes(code)) throw error;
    throw new AppError('not_found', `${said} cannot be read (${code})`, {
      hint: 'Name a file by its path in the project.',
    });
  }
}

/** The path of the opened file itself, where the system tells it: what the name leads to may have changed. */
async function pathOf(handle: FileHandle, wanted: string): Promise<string> {
  try {
    return await readlink(join('/proc/self/fd', String(handle.fd)));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return realpath(wanted);
  }
}
