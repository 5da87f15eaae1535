import { plainLine } from '@tidemill/contract';
import type { PastCommit } from '../ports.ts';
import type { GitContext } from './git-context.ts';

/** The commits that `to` has and `from` has not, newest first. Without `from`: all that `to` has. */
export async function commitsBetween(
  context: GitContext,
  from: string | null,
  to: string,
  limit: number,
): Promise<PastCommit[]> {
  const format = '--format=%H%x00%ct%x00%s';
  const range = from === null ? [to] : [to, `^${from}`];
  const { stdout } = await context.git(['log', `--max-count=${limit}`, format, ...range, '--']);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', seconds = '', subject = ''] = line.split('\0');
    if (commit === '') return [];
    return [{ commit, at: Number(seconds) * 1000, subject: plainLine(subject).slice(0, 300) }];
  });
}

/** The newest tag before a commit; null when there is none. */
export async function tagBefore(context: GitContext, commit: string): Promise<string | null> {
  // 128: it has no parent, or there is no tag.
  const { code, stdout } = await context.git(['describe', '--tags', '--abbrev=0', `${commit}^`], { answers: [128] });
  return code === 0 ? stdout.trim() : null;
}

/** The commit that a tag, a branch or a shortened hash names; null when there is none. */
export async function commitNamed(context: GitContext, name: string): Promise<string | null> {
  // A revision is one line, and must not be taken for a range or an expression with side conditions.
  if (!/^[\w][\w./@{}~^+-]*$/.test(name) || name.includes('..')) return null;
  const [commit] = await context.resolver.resolve([`${name}^{commit}`]);
  return commit ?? null;
}
