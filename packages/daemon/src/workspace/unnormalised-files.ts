import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import type { StatusEntry } from '../git/output.ts';
import type { Git } from '../git/program.ts';

/** A text file with such line endings has one in its beginning. */
const BEGINNING = 64 * 1024;
const CARRIAGE_RETURN = 13;

/**
 * Those of the changed files that hold exactly the bytes that git stores, by name (`latin1`). git calls them changed where
 * the stored bytes are not what an attribute asks for: line endings that were never normalised, a filter that was added
 * later. Every fresh checkout has them, nobody made that change, and nobody could undo it.
 */
export async function unnormalisedFiles(git: Git, root: string, paths: readonly string[]): Promise<Set<string>> {
  const plain: string[] = [];
  for (const path of paths) if (!path.includes('\n') && (await isFile(placeOf(root, path)))) plain.push(path);
  if (plain.length === 0) return new Set();
  const input = Buffer.from(plain.map((path) => `${path}\n`).join(''), 'latin1');
  const [hashed, listed] = await Promise.all([
    git(['hash-object', '--no-filters', '--stdin-paths'], { input }),
    git(['ls-files', '-s', '-z']),
  ]);
  const hashes = hashed.stdout.split('\n');
  const stored = new Map(
    listed.bytes
      .toString('latin1')
      .split('\0')
      .map((entry) => [entry.slice(entry.indexOf('\t') + 1), entry.split(' ')[1]]),
  );
  return new Set(plain.filter((path, index) => stored.get(path) === hashes[index]));
}

/** The entries of a status without those files. */
export async function reallyChanged(git: Git, root: string, entries: StatusEntry[]): Promise<StatusEntry[]> {
  const nameOf = ({ path }: StatusEntry) => Buffer.from(path).toString('latin1');
  const modified = entries.filter(({ code }) => code === ' M');
  if (modified.length === 0) return entries;
  const same = await unnormalisedFiles(git, root, modified.map(nameOf));
  return entries.filter((entry) => entry.code !== ' M' || !same.has(nameOf(entry)));
}

/**
 * Whether it can be one of those, so that git need not be asked about every change: it has Windows line endings, or the
 * repository uses filters.
 */
export async function mayBeUnnormalised(root: string, path: string, hasFilters: boolean): Promise<boolean> {
  const file = placeOf(root, path);
  if (!(await isFile(file))) return false;
  return hasFilters || (await beginningOf(file)).includes(CARRIAGE_RETURN);
}

/** Whether the attributes at the root name a filter. */
export async function usesFilters(root: string): Promise<boolean> {
  const file = placeOf(root, '.gitattributes');
  return (await isFile(file)) && (await beginningOf(file)).includes('filter=');
}

const placeOf = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);

/** An agent may have put a link or a pipe there in the meantime. */
const AS_A_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const isFile = (path: Buffer): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isFile(),
    () => false,
  );

async function beginningOf(file: Buffer): Promise<Buffer> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, AS_A_FILE);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    // Removed in the meantime, or not readable: git says so where it matters.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return Buffer.alloc(0);
  } finally {
    await handle?.close();
  }
}
