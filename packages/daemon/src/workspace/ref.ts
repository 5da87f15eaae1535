import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, GitError } from '../git/program.ts';
import { recordTips } from './branch-tips.ts';
import type { GitContext } from './git-context.ts';
import { isThere } from './registered-worktree.ts';
import { clearStaleLock } from './stale-lock.ts';

export interface RefChange {
  ref: string;
  /** null deletes. */
  to: string | null;
  /** The required current value. NOTHING: it must not exist. Absent: any value. */
  from?: string;
}

export const NOTHING = '0'.repeat(40);

/** The engine's own tip of each branch. */
export const OWN_HEADS = 'refs/tidemill/heads/';

/** Applies all changes or none. The caller must serialize deletions, because they share one lock file. */
export async function moveRefs(context: GitContext, changes: RefChange[]): Promise<void> {
  const input = changes
    .map(({ ref, to, from }) =>
      to ? `update ${ref} ${to}${from ? ` ${from}` : ''}\n` : `delete ${ref}${from ? ` ${from}` : ''}\n`,
    )
    .join('');
  const change = () => context.git(['update-ref', '--stdin'], { input });
  await recordTips(context, changes);
  if (changes.every(({ to }) => to !== null)) await change();
  else await notedDeletion(context, change);
}

const deletionNote = (dataDir: string): string => join(dataDir, 'deleting-refs');

const packedLock = (context: GitContext): string => join(context.info.commonDir, 'packed-refs.lock');

/**
 * To delete a ref git locks the list of packed refs, which is not ours alone. The note tells the next deletion that a
 * lock as old as the note was left by a git of ours, and not by a person's that is at work. Git leaves its lock when it
 * is killed, and when the repository is moved away while it works.
 */
async function notedDeletion(context: GitContext, work: () => Promise<unknown>): Promise<void> {
  await clearDeadDeletion(context);
  const note = deletionNote(context.dataDir);
  await writeFile(note, '');
  try {
    await work();
  } catch (error) {
    if (error instanceof GitError && error.exitCode !== null && (await leftNoLock(context, error))) await rm(note);
    throw error;
  }
  await rm(note, { force: true });
}

async function leftNoLock(context: GitContext, { stderr }: GitError): Promise<boolean> {
  if (stderr.includes(`${packedLock(context)}': File exists`)) return true;
  return (await isThere(context.info.commonDir)) && !(await isThere(packedLock(context)));
}

export async function clearDeadDeletion(context: GitContext): Promise<void> {
  const note = await stat(deletionNote(context.dataDir)).catch(() => null);
  if (!note) return;
  const found = await stat(packedLock(context)).catch(() => null);
  if (found && found.mtimeMs >= note.mtimeMs) await clearStaleLock(packedLock(context), context.clock);
  await rm(deletionNote(context.dataDir), { force: true });
}

export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  if (ancestor === of) return true;
  return (await git(['merge-base', '--is-ancestor', ancestor, of], { answers: [1] })).code === 0;
}
