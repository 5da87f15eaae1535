import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitWith } from '../git/program.ts';
import type { Scratch } from '../ports.ts';
import type { GitContext } from './git-context.ts';

export const scratchFolder = (context: Pick<GitContext, 'dataDir'>) => join(context.dataDir, 'scratch');

/** A repository with one commit, because some agents need one. */
export async function openScratch(context: GitContext, name: string): Promise<Scratch> {
  const path = join(scratchFolder(context), name);
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5 });
  await remove();
  await mkdir(path, { recursive: true });
  const git = gitWith({ cwd: path });
  await git(['init', '-q', '-b', 'main']);
  await writeFile(
    join(path, 'README.md'),
    '# Scratch\n\nMade by Tidemill for one piece of work, and removed after it.\n',
  );
  await git(['add', '-A']);
  const identity = ['-c', 'user.name=Tidemill', '-c', 'user.email=tidemill@localhost'];
  await git([...identity, 'commit', '-q', '-m', 'Start']);
  return { path, remove };
}

/** Removes leftovers of a crash. Only for the daemon of this data folder, at its start. */
export const removeScratches = (context: Pick<GitContext, 'dataDir'>): Promise<void> =>
  rm(scratchFolder(context), { recursive: true, force: true, maxRetries: 5 });
