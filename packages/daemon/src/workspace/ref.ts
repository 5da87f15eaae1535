import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, GitError } from '../git/program.ts';
import { recordTips } from './own-tip.ts';
import type { Site } from './site.ts';
import { clearStaleLock } from './stale-lock.ts';
import { isThere } from './standing.ts';

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
export async function moveRefs(site: Site, changes: RefChange[]): Promise<void> {
  const input = changes
    .map(({ ref, to, from }) =>
      to ? `update ${ref} ${to}${from ? ` ${from}` : ''}\n` : `delete ${ref}${from ? ` ${from}` : ''}\n`,
    )
    .join('');
  const change = () => site.git(['update-ref', '--stdin'], { input });
  await recordTips(site, changes);
  if (changes.every(({ to }) => to !== null)) await change();
  else await notedDeletion(site, change);
}

const deletionNote = (dataDir: string): string => join(dataDir, 'deleting-refs');

const packedLock = (site: Site): string => join(site.info.commonDir, 'packed-refs.lock');

/**
 * To delete a ref git locks the list of packed refs, which is not ours alone. The note tells the next deletion that a
 * lock as old as the note was left by a git of ours, and not by a person's that is at work. Git leaves its lock when it
 * is killed, and when the repository is moved away while it works.
 */
async function notedDeletion(site: Site, work: () => Promise<unknown>): Promise<void> {
  await clearDeadDeletion(site);
  const note = deletionNote(site.dataDir);
  await writeFile(note, '');
  try {
    await work();
  } catch (error) {
    if (error instanceof GitError && error.exitCode !== null && (await leftNoLock(site, error))) await rm(note);
    throw error;
  }
  await rm(note, { force: true });
}

async function leftNoLock(site: Site, { stderr }: GitError): Promise<boolean> {
  if (stderr.includes(`${packedLock(site)}': File exists`)) return true;
  return (await isThere(site.info.commonDir)) && !(await isThere(packedLock(site)));
}

export async function clearDeadDeletion(site: Site): Promise<void> {
  const note = await stat(deletionNote(site.dataDir)).catch(() => null);
  if (!note) return;
  const found = await stat(packedLock(site)).catch(() => null);
  if (found && found.mtimeMs >= note.mtimeMs) await clearStaleLock(packedLock(site), site.clock);
  await rm(deletionNote(site.dataDir), { force: true });
}

export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  if (ancestor === of) return true;
  return (await git(['merge-base', '--is-ancestor', ancestor, of], { answers: [1] })).code === 0;
}
