import { GitError } from '../git/program.ts';
import type { GitContext } from './git-context.ts';
import { NOTHING } from './ref.ts';

/**
 * Uploads the files of Git LFS that a push needs, as git-lfs's own pre-push hook does: no hook runs in our pushes, and
 * others would get pointers to files that are nowhere. Returns why it failed, or null.
 */
export async function pushLargeFiles(
  context: GitContext,
  { remote, ref, commit }: { remote: string; ref: string; commit: string },
  { signal, env }: { signal: AbortSignal; env: Record<string, string> },
): Promise<string | null> {
  if (!(await usesLargeFiles(context, commit))) return null;
  const { stdout: url } = await context.git(['remote', 'get-url', '--push', remote]);
  const input = `${commit} ${commit} ${ref} ${NOTHING}\n`;
  try {
    await context.git(['lfs', 'pre-push', remote, url.trim()], { input, signal, env });
    return null;
  } catch (error) {
    if (!(error instanceof GitError) && !signal.aborted) throw error;
    const said = error instanceof GitError ? error.stderr.trim() : 'it took too long';
    return `the files of Git LFS could not be uploaded to ${remote}: ${said}`;
  }
}

/** It is set up for the person, and the commit has files of it. */
async function usesLargeFiles(context: GitContext, commit: string): Promise<boolean> {
  const ask = ['config', '--get-regexp', '^filter\\.lfs\\.(process|clean)$'];
  if ((await context.git(ask, { answers: [1] })).code !== 0) return false;
  const search = ['grep', '-q', '-F', 'filter=lfs', commit, '--', ':(glob)**/.gitattributes'];
  return (await context.git(search, { answers: [1] })).code === 0;
}
