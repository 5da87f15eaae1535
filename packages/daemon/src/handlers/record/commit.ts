import { gitWith } from '../../git/program.ts';

/** The facts about a commit that its proof needs. */
export interface CommitFacts {
  commit: string;
  tree: string;
  subject: string;
  /** Trailers of the message, by lower-case name. The last of a name counts. */
  trailers: Record<string, string>;
}

export async function commitFacts(root: string, revision: string): Promise<CommitFacts | null> {
  const git = gitWith({ cwd: root });
  // A revision that starts with a dash must not be read as an option.
  const asked = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${revision}^{commit}`];
  const found = await git(asked, { answers: [1, 128] });
  if (found.code !== 0) return null;
  const commit = found.stdout.trim();
  const format = '%T%x00%s%x00%(trailers:only,unfold)';
  const { stdout } = await git(['log', '-1', `--format=${format}`, commit]);
  const [tree = '', subject = '', trailers = ''] = stdout.split('\0');
  const pairs = trailers.split('\n').flatMap((line) => {
    const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(line) ?? [];
    return name && value ? [[name.toLowerCase(), value.trim()]] : [];
  });
  return { commit, tree, subject, trailers: Object.fromEntries(pairs) };
}

/** Whether the commit's history has the other one. */
export async function contains(root: string, commit: string, other: string): Promise<boolean> {
  const { code } = await gitWith({ cwd: root })(['merge-base', '--is-ancestor', other, commit], { answers: [1] });
  return code === 0;
}
