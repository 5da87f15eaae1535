import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { nulList, type RawChange, statusEntries } from '../git/output.ts';
import { changesBetween } from './capture.ts';
import type { Checkout } from './checkout.ts';
import type { GitContext } from './git-context.ts';
import { isAncestor } from './ref.ts';
import { isThere } from './registered-worktree.ts';

/**
 * A fast-forward in a person's checkout that was cut short: machine down, git killed, or the person moved the branch in
 * that very moment. git writes the files first and moves the branch last, so some files are already the new ones, one
 * may be half written or just deleted, and the index is old or new as a whole. The note below was written before git
 * started, when the checkout was clean and none of the new files existed; so whatever is now exactly what the commit
 * brings, or a beginning of it, came from git and is put back. Everything else is a person's and is not touched.
 */
const LandingNote = z.object({ path: z.string(), base: z.string(), commit: z.string() });
type LandingNote = z.infer<typeof LandingNote>;

const noteFile = (context: GitContext): string => join(context.dataDir, 'landing.json');

export async function noteLanding(context: GitContext, note: LandingNote): Promise<void> {
  const temporary = `${noteFile(context)}.new`;
  await writeFile(temporary, JSON.stringify(note), { flush: true });
  await rename(temporary, noteFile(context));
}

export const forgetLanding = (context: GitContext): Promise<void> => rm(noteFile(context), { force: true });

async function readNote(context: GitContext): Promise<LandingNote | null> {
  const text = await readFile(noteFile(context), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return LandingNote.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

export async function undoInterrupted(context: GitContext, checkout: Checkout): Promise<void> {
  const note = await readNote(context);
  if (!note || note.path !== checkout.path) return;
  // Whose lock that is cannot be known; the person is asked to look (see obstacleIn), and the note stays for
  // afterwards.
  if (await isThere(join(checkout.gitDir, 'index.lock'))) return;
  const { stdout } = await checkout.git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'], { answers: [1, 128] });
  const head = stdout.trim();
  if (head && !(await isAncestor(context.git, note.commit, head))) await putBack(context, checkout, note, head);
  await forgetLanding(context);
}

async function putBack(context: GitContext, checkout: Checkout, note: LandingNote, head: string): Promise<void> {
  const status = ['status', '--porcelain=v1', '-z', '-uno', '--no-renames', '--ignore-submodules=all'];
  const dirty = new Set(statusEntries((await checkout.git(status)).stdout).map(({ path }) => path));
  const suspects: RawChange[] = [];
  for (const change of await changesBetween(context, note.base, note.commit)) {
    const isNew = change.status === 'A' && (await isThere(join(checkout.path, change.path)));
    if (isNew || dirty.has(change.path)) suspects.push(change);
  }
  const ours = (await writtenByGit(checkout, suspects, head === note.base)).map(({ path }) => path);
  const inHead = await pathsIn(checkout, head, ours);
  const fresh = ours.filter((path) => !inHead.has(path));
  const staged = fresh.filter((path) => dirty.has(path));
  if (staged.length > 0)
    await checkout.git(['update-index', '--force-remove', '-z', '--stdin'], { input: nulText(staged) });
  for (const path of fresh) await rm(join(checkout.path, path), { force: true });
  if (inHead.size > 0) {
    const from = ['--source=HEAD', '--staged', '--worktree', '--pathspec-from-file=-', '--pathspec-file-nul'];
    await checkout.git(['--literal-pathspecs', 'restore', '-q', ...from], { input: nulText([...inHead]) });
  }
}

const nulText = (paths: string[]): string => paths.map((path) => `${path}\0`).join('');

async function pathsIn(checkout: Checkout, commit: string, paths: string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const all = new Set(
    nulList((await checkout.git(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit])).stdout),
  );
  return new Set(paths.filter((path) => all.has(path)));
}

/**
 * Files that equal the commit's version or, if the branch was not moved since, are what a killed git leaves: no file,
 * or its beginning.
 */
async function writtenByGit(checkout: Checkout, changes: RawChange[], canBePartial: boolean): Promise<RawChange[]> {
  const ours: RawChange[] = [];
  const files: { change: RawChange; size: number }[] = [];
  for (const change of changes) {
    const path = join(checkout.path, change.path);
    const found = await lstat(path).catch(() => null);
    if (!found && (canBePartial || change.status === 'D')) ours.push(change);
    if (!found || change.status === 'D') continue;
    if (found.isSymbolicLink() && blobId(await readlink(path)) === change.newOid) ours.push(change);
    else if (found.isFile() && !change.path.includes('\n')) files.push({ change, size: found.size });
  }
  if (files.length === 0) return ours;
  const input = files.map(({ change }) => `${change.path}\n`).join('');
  const hashes = (await checkout.git(['hash-object', '--stdin-paths'], { input })).stdout.split('\n');
  for (const [i, { change, size }] of files.entries()) {
    if (hashes[i] === change.newOid || (canBePartial && (await isBeginning(checkout, change, size)))) ours.push(change);
  }
  return ours;
}

const blobId = (text: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0`)
    .update(text)
    .digest('hex');

/** `cat-file --filters` returns the bytes that a checkout would write, with line endings. */
async function isBeginning(checkout: Checkout, change: RawChange, size: number): Promise<boolean> {
  const args = ['cat-file', '--filters', `--path=${change.path}`, change.newOid];
  const { bytes } = await checkout.git(args, { maxBytes: size });
  if (bytes.length < size) return false;
  let at = 0;
  for await (const chunk of createReadStream(join(checkout.path, change.path))) {
    const part = chunk as Buffer;
    if (!part.equals(bytes.subarray(at, at + part.length))) return false;
    at += part.length;
  }
  return true;
}
