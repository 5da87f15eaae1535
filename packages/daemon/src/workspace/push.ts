import { nulList } from '../git/output.ts';
import { GitError } from '../git/program.ts';
import type { Site } from './site.ts';

const TRIES = 3;
const FIRST_PAUSE_MS = 1_000;
const PUSH_LIMIT_MS = 120_000;

export type Pushed = { kind: 'pushed' | 'none' } | { kind: 'failed'; why: string };

/**
 * A plain push of the target to where its branch comes from, else to `origin`. Never forced: a remote with new commits
 * refuses it.
 */
export async function pushTarget(site: Site): Promise<Pushed> {
  const to = site.options.push ? await destination(site) : null;
  if (!to) return { kind: 'none' };
  let why = '';
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    if (attempt > 1) await site.clock.sleep(FIRST_PAUSE_MS * 4 ** (attempt - 2));
    try {
      await site.git(['push', '-q', '--no-verify', '--no-force', to.remote, `${site.targetRef}:${to.ref}`], {
        signal: AbortSignal.timeout(PUSH_LIMIT_MS),
      });
      return { kind: 'pushed' };
    } catch (error) {
      why = reason(error, to.remote);
      if (error instanceof GitError && /\[rejected\]|\[remote rejected\]/.test(error.stderr)) break;
    }
  }
  return { kind: 'failed', why };
}

function reason(error: unknown, remote: string): string {
  if (error instanceof Error && error.name === 'AbortError')
    return `pushing to ${remote} took longer than ${PUSH_LIMIT_MS / 1000} s`;
  if (!(error instanceof GitError)) throw error;
  const said = error.stderr.trim();
  if (/\[rejected\]/.test(said)) return `${remote} has commits that are not here; fetch and merge them: ${said}`;
  return `pushing to ${remote} failed: ${said}`;
}

async function destination(site: Site): Promise<{ remote: string; ref: string } | null> {
  const { stdout } = await site.git(['config', '-z', '--get-regexp', '^(branch|remote)\\..*\\.(remote|merge|url)$'], {
    answers: [1],
  });
  const settings = new Map(
    nulList(stdout).map((entry): [string, string] => {
      const end = entry.indexOf('\n');
      return [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
  const branch = `branch.${site.options.target}`;
  const remote = settings.get(`${branch}.remote`);
  if (remote && remote !== '.') return { remote, ref: settings.get(`${branch}.merge`) ?? site.targetRef };
  return remote !== '.' && settings.has('remote.origin.url') ? { remote: 'origin', ref: site.targetRef } : null;
}
