import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangedFileView, FileSide, TaskFile } from '@tidemill/contract';
import type { Git } from '../git/program.ts';
import { GITLINK, isReachedPlainly, SYMLINK } from './conflict-file.ts';
import type { Compared } from './look.ts';

interface Entry extends ChangedFileView {
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
}

const STATUS: Record<string, ChangedFileView['status']> = { A: 'added', D: 'deleted', R: 'renamed', C: 'added' };
const NOT_TEXT: FileSide = { text: '', isCut: false, isText: false };

/** The changed files without their contents. */
export async function listFiles(compared: Compared): Promise<ChangedFileView[]> {
  const entries = await entriesOf(compared);
  return entries.map(({ path, from, status }) => ({ path, from, status }));
}

/** Both sides of one changed file; null when the change does not contain it. */
export async function readFile(compared: Compared, path: string, maxBytes: number): Promise<TaskFile | null> {
  const entry = (await entriesOf(compared)).find((one) => one.path === path);
  if (!entry) return null;
  const { oldMode, newMode, oldOid, newOid, status, from } = entry;
  const before = status === 'added' ? null : await blob(compared.git, oldMode, oldOid, maxBytes);
  const after = status === 'deleted' ? null : await newSide(compared, path, { newMode, newOid }, maxBytes);
  return { path, from, status, before, after };
}

/** Names and contents only: nothing that the repository configures is run for it. */
async function entriesOf({ git, revisions }: Compared): Promise<Entry[]> {
  const options = ['--raw', '-z', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--find-renames'];
  const { stdout } = await git(['diff', ...options, '--ignore-submodules=dirty', ...revisions, '--']);
  const parts = stdout.split('\0');
  const entries: Entry[] = [];
  for (let at = 0; at + 1 < parts.length; ) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', letters = ''] = parts[at]!.slice(1).split(' ');
    const isMoved = /^[RC]/.test(letters);
    const from = isMoved ? parts[at + 1]! : null;
    const path = parts[at + (isMoved ? 2 : 1)]!;
    at += isMoved ? 3 : 2;
    entries.push({ path, from, status: STATUS[letters[0] ?? ''] ?? 'changed', oldMode, newMode, oldOid, newOid });
  }
  return entries;
}

async function newSide(
  { git, worktree }: Compared,
  path: string,
  { newMode, newOid }: { newMode: string; newOid: string },
  maxBytes: number,
): Promise<FileSide> {
  // Of a file in the worktree, git may name a content that the repository does not have.
  if (worktree === null) return blob(git, newMode, newOid, maxBytes);
  if (newMode === SYMLINK || newMode === GITLINK) return NOT_TEXT;
  return (await plainFile(worktree, path, maxBytes)) ?? NOT_TEXT;
}

async function blob(git: Git, mode: string, oid: string, maxBytes: number): Promise<FileSide> {
  if (mode === SYMLINK || mode === GITLINK) return NOT_TEXT;
  const { bytes } = await git(['cat-file', 'blob', oid], { maxBytes: maxBytes + 1 });
  return sideOf(bytes, maxBytes);
}

/**
 * A file of the worktree, which an agent may change at any moment: links are not followed, and what was opened must
 * still be what lies at the path, inside the worktree. Null when it is no such file.
 */
async function plainFile(root: string, path: string, maxBytes: number): Promise<FileSide | null> {
  if (!(await isReachedPlainly(root, path))) return null;
  const file = join(root, path);
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null; // a link, gone, or not readable
  }
  try {
    const opened = await handle.stat();
    const real = await realpath(file).catch(() => null);
    const there = real === join(await realpath(root), path) ? await lstat(real).catch(() => null) : null;
    if (!opened.isFile() || there?.ino !== opened.ino || there.dev !== opened.dev) return null;
    const bytes = Buffer.alloc(Math.min(opened.size, maxBytes + 1));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return sideOf(bytes.subarray(0, bytesRead), maxBytes);
  } finally {
    await handle.close();
  }
}

function sideOf(bytes: Buffer, maxBytes: number): FileSide {
  if (bytes.includes(0)) return NOT_TEXT;
  // A character that is cut in two is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
  return { text, isCut: bytes.length > maxBytes, isText: true };
}
