import { chmod, lstat, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, type ConflictFile, type Resolution } from '@tidemill/contract';
import {
  blobBytes,
  type ConflictEntry,
  type ConflictSide,
  GITLINK,
  isReachedPlainly,
  SYMLINK,
} from './conflict-file.ts';
import { hasOwnMarkers } from './conflict-marker.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';

/** Writes the file first and marks it resolved last, so that a crash cannot mark an unresolved file. */
export async function resolveEntry(
  context: GitContext,
  place: RegisteredWorktree,
  { entry, file }: { entry: ConflictEntry; file: ConflictFile },
  resolution: Resolution,
): Promise<void> {
  if (entry.path.includes('\uFFFD') || !(await isReachedPlainly(place.path, entry.path))) throw unreachable(entry.path);
  const there = await lstat(join(place.path, entry.path)).catch(() => null);
  const isLink = [entry.base, entry.ours, entry.theirs].some((stage) => stage?.mode === GITLINK);
  if (there?.isDirectory() && !isLink) throw unreachable(entry.path);
  if ('text' in resolution) {
    const bytes = Buffer.from(checkedText(file, resolution.text));
    const isExecutable = (entry.ours ?? entry.theirs ?? entry.base)?.mode === '100755';
    const mode = there?.isFile() ? there.mode & 0o777 : isExecutable ? 0o755 : 0o644;
    await putFile(context, place, entry.path, bytes, mode);
    return markResolved(context, place, entry.path);
  }
  const stage = resolution.take === 'deleted' ? null : entry[resolution.take];
  if (isLink && there?.isDirectory() && (await readdir(join(place.path, entry.path))).length > 0)
    throw checkedOut(entry.path);
  if (isLink) return takeLink(context, place, entry.path, stage);
  if (!stage) {
    await rm(join(place.path, entry.path), { force: true });
    return markGone(context, place, entry.path);
  }
  const bytes = await blobBytes(context, place, entry.path, stage);
  if (stage.mode === SYMLINK) await putSymlink(place, entry.path, bytes);
  else await putFile(context, place, entry.path, bytes, stage.mode === '100755' ? 0o755 : 0o644);
  await markResolved(context, place, entry.path);
}

function unreachable(path: string): AppError {
  return new AppError(
    'bad_input',
    `${JSON.stringify(path)} cannot be written: another file or folder is in its place`,
    {
      hint: 'Use git in the worktree. The conflict lists the commands.',
    },
  );
}

/** Its own HEAD decides which commit is recorded, and Tidemill must not move it. */
function checkedOut(path: string): AppError {
  return new AppError('bad_input', `the submodule ${JSON.stringify(path)} is checked out in the worktree`, {
    hint: 'Check out the wanted commit in it, then run `git add` on it.',
  });
}

function checkedText(file: ConflictFile, text: string): string {
  if (!file.isText)
    throw new AppError('bad_input', `${file.path} cannot be resolved with text: it is ${FORMS[file.form]}`, {
      hint: 'Take a side (ours, theirs, deleted), or resolve it with git in the worktree.',
    });
  if (text.includes('\0'))
    throw new AppError('bad_input', `the text for ${file.path} contains a NUL character`, { hint: 'Send plain text.' });
  const kept = withItsLineEndings(text, file.ours ?? file.theirs ?? file.base);
  if (!hasOwnMarkers(kept, [file.ours, file.theirs])) return kept;
  throw new AppError('bad_input', `conflict markers remain in the text for ${file.path}`, {
    hint: 'Resolve each part between <<<<<<< and >>>>>>>, and remove these lines.',
  });
}

const FORMS: Record<ConflictFile['form'], string> = {
  text: 'a text',
  binary: 'binary, or not UTF-8',
  large: 'larger than 1 MB',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
};

/** The page's editor uses only \n. Restores \r\n for files that use it. */
function withItsLineEndings(text: string, side: string | null): string {
  const isWindows = side?.includes('\r\n') && !/(^|[^\r])\n/.test(side);
  return isWindows && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}

/** A temporary file outside the worktrees, so that leftovers of a crash are not taken for work. */
const asideOf = (place: RegisteredWorktree) => `${place.index}.resolved`;

async function putFile(
  context: GitContext,
  place: RegisteredWorktree,
  path: string,
  bytes: Buffer,
  mode: number,
): Promise<void> {
  const aside = asideOf(place);
  await rm(aside, { force: true });
  await writeFile(aside, bytes, { flush: true, mode });
  // The umask was applied above. Existing permissions stay.
  await chmod(aside, mode);
  await moveIn(place, aside, path);
  context.indexStamps.delete(place.name);
}

async function putSymlink(place: RegisteredWorktree, path: string, target: Buffer): Promise<void> {
  const aside = asideOf(place);
  await rm(aside, { force: true });
  await symlink(target, aside);
  await moveIn(place, aside, path);
}

/** Replaces the path in one step, also if it is a symbolic link. */
async function moveIn(place: RegisteredWorktree, aside: string, path: string): Promise<void> {
  const to = join(place.path, path);
  await mkdir(dirname(to), { recursive: true });
  await rename(aside, to);
}

const theirIndex = (context: GitContext, place: RegisteredWorktree) => context.gitAt(place, join(place.admin, 'index'));

async function markResolved(context: GitContext, place: RegisteredWorktree, path: string): Promise<void> {
  await theirIndex(context, place)(['--literal-pathspecs', 'add', '-f', '--sparse', '--', path]);
}

async function markGone(context: GitContext, place: RegisteredWorktree, path: string): Promise<void> {
  await theirIndex(context, place)(['update-index', '--force-remove', '-z', '--stdin'], { input: `${path}\0` });
}

/** A submodule is not checked out here: only its commit is chosen. */
async function takeLink(
  context: GitContext,
  place: RegisteredWorktree,
  path: string,
  stage: ConflictSide | null,
): Promise<void> {
  if (!stage) return markGone(context, place, path);
  await theirIndex(context, place)(['update-index', '-z', '--index-info'], {
    input: `${stage.mode} ${stage.oid} 0\t${path}\0`,
  });
}
