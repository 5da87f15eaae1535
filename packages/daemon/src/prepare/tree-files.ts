import { execFile } from 'node:child_process';
import { lstat, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

export const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false,
  );

/** Whether nothing on the way from the folder to the path is a link, which a change could lead outside. */
export async function isHeldIn(folder: string, relative: string): Promise<boolean> {
  const parts = relative.split(path.sep).slice(0, -1);
  for (let length = 1; length <= parts.length; length += 1) {
    const found = await lstat(path.join(folder, ...parts.slice(0, length))).catch(() => null);
    if (found === null) return true;
    if (!found.isDirectory()) return false;
  }
  return true;
}

export async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  await rename(from, to);
}

/** A kill leaves the old file or the new one, never half of it. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** Limit of the wait, in case the clock was set back. */
const MOST_LOOKS = 100;

/**
 * File times have a resolution of some milliseconds. Returns when a new change would have a later time than the file,
 * because a change within the same step would not be detected.
 */
export async function nextTick(file: string): Promise<void> {
  const { mtimeMs } = await stat(file);
  const probe = `${file}.probe`;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    await delay(1);
    await writeFile(probe, '.');
    if ((await stat(probe)).mtimeMs > mtimeMs) break;
  }
  await rm(probe);
}

/** `cp` is many times faster than copying file by file in Node. */
export async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  const sharing = process.platform === 'darwin' ? ['-c'] : process.platform === 'linux' ? ['--reflink=auto'] : [];
  try {
    await run('cp', ['-a', ...sharing, '--', from, to]);
  } catch (error) {
    if (sharing.length === 0) throw error;
    // This system's cp does not support the option.
    await rm(to, { recursive: true, force: true });
    await run('cp', ['-a', '--', from, to]);
  }
}

/** The size on disk; null if it is unknown. */
export async function kilobytesOf(folder: string): Promise<number | null> {
  // `du` exits with 1 when a file vanished meanwhile.
  const { stdout } = await run('du', ['-sk', '--', folder]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  const size = Number.parseInt(stdout, 10);
  return Number.isNaN(size) ? null : size;
}

/** Paths below the folder that changed after the mark, or null if unknown. */
export async function changedSince(mark: string, folder: string, paths: string[]): Promise<string[] | null> {
  if (paths.length === 0) return [];
  try {
    const { stdout } = await run('find', [...paths.map((each) => `./${each}`), '-cnewer', mark, '-print0'], {
      cwd: folder,
      maxBuffer: MAX_OUTPUT,
    });
    return stdout
      .split('\0')
      .filter((each) => each !== '')
      .map((each) => each.slice(2));
  } catch {
    // No such program, or a path is missing.
    return null;
  }
}

/**
 * Environments that name their own folder (a Python environment, a link or script with the whole path) cannot be moved.
 */
export async function isMovable(from: string, paths: string[], shownAt: string): Promise<boolean> {
  if (paths.length === 0) return true;
  const where = paths.map((each) => `./${each}`);
  const options = { cwd: from, maxBuffer: MAX_OUTPUT };
  const finds = async (...test: string[]) => (await run('find', [...where, ...test], options)).stdout.trim() !== '';
  if (await finds('-name', 'pyvenv.cfg', '-print', '-quit')) return false;
  for (const folder of new Set([from, shownAt]))
    if (await finds('-type', 'l', '-lname', `${folder}/*`, '-print', '-quit')) return false;
  const names = ['-e', from, '-e', shownAt];
  const scripts = ['-type', 'f', '-perm', '-u+x', '-size', '-64k', '-exec', 'grep', '-lFI', ...names, '--', '{}', '+'];
  // grep exits with 1 when it finds nothing, and find returns that.
  const { stdout } = await run('find', [...where, ...scripts], options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  return stdout.trim() === '';
}
