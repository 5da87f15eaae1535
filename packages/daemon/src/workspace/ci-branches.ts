import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pushed } from '../ports.ts';
import type { GitContext } from './git-context.ts';
import { makeLock } from './lock.ts';
import { type Destination, destination, push, runAtRemote } from './remote.ts';

const branchOf = (commit: string) => `refs/heads/tidemill/ci/${commit.slice(0, 16)}`;

/**
 * CI of the remote runs for pushed commits only, so a commit gets a branch for as long as it is being judged. Each is noted
 * in the data folder before it is pushed. What a killed process left is removed with the next fetch, if it still has the
 * commit that was pushed. Branches without a note belong to others.
 */
export function makeCiBranches(context: GitContext) {
  const folder = join(context.dataDir, 'ci-branches');
  const note = (commit: string) => join(folder, commit);
  const inUse = new Set<string>();
  const lock = makeLock();

  const noted = async (): Promise<string[]> => {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => /^[0-9a-f]{40,64}$/.test(name) && !inUse.has(name));
  };

  /** Only what the remote has is asked to go: a branch that is gone, or has another commit, is not ours to remove. */
  const remove = async (to: Destination, commits: string[]): Promise<void> => {
    const { stdout } = await runAtRemote(context, ['ls-remote', to.remote, ...commits.map(branchOf)]);
    const there = new Set(stdout.split('\n').map((line) => line.replace('\t', ' ')));
    const ours = commits.filter((commit) => there.has(`${commit} ${branchOf(commit)}`));
    // The lease: it is removed only if it still has this commit.
    const leases = ours.map((commit) => `--force-with-lease=${branchOf(commit)}:${commit}`);
    if (ours.length > 0)
      await runAtRemote(context, [
        ...['push', '-q', '--no-verify', ...leases, to.remote],
        ...ours.map((commit) => `:${branchOf(commit)}`),
      ]);
    for (const commit of commits) await rm(note(commit), { force: true });
  };

  return {
    async offer(commit: string): Promise<Pushed> {
      const to = await destination(context);
      if (!to) return { kind: 'none' };
      inUse.add(commit);
      await mkdir(folder, { recursive: true });
      await writeFile(note(commit), to.remote, { flush: true });
      const pushed = await lock(() => push(context, to, `${commit}:${branchOf(commit)}`));
      if (pushed.kind !== 'pushed') inUse.delete(commit);
      return pushed;
    },

    async withdraw(commit: string): Promise<void> {
      inUse.delete(commit);
      const to = await destination(context);
      if (to) await lock(() => remove(to, [commit]));
    },

    /** After a fetch that worked. */
    async removeLeft(): Promise<void> {
      const to = await destination(context);
      if (!to || (await noted()).length === 0) return;
      await lock(async () => {
        const left: string[] = [];
        for (const commit of await noted())
          if ((await readFile(note(commit), 'utf8').catch(() => '')) === to.remote) left.push(commit);
        if (left.length > 0) await remove(to, left);
      });
    },
  };
}
