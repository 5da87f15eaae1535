import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { AppError } from '@tidemill/contract';
import { gitWith } from '../git/program.ts';

/** What git says about a commit, as far as proving it needs. */
export interface CommitFacts {
  commit: string;
  tree: string;
  subject: string;
  /** Trailers of the message, by lower-case name; the last one of a name counts. */
  trailers: Record<string, string>;
}

export async function commitFacts(root: string, revision: string): Promise<CommitFacts | null> {
  const git = gitWith({ cwd: root });
  // A revision that starts with a dash would be read as an option.
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

/** Writes a commit's files into a folder of their own. The repository and its checkouts are not touched. */
export async function exportCommit(root: string, commit: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  if ((await readdir(to)).length > 0) {
    throw new AppError('bad_input', `${to} is not empty`, {
      hint: 'Name a folder that does not exist yet, so that nothing in it is overwritten.',
    });
  }
  const temporary = await mkdtemp(join(tmpdir(), 'tidemill-index-'));
  try {
    const git = gitWith({ cwd: root, env: { GIT_INDEX_FILE: join(temporary, 'index') } });
    await git(['read-tree', commit]);
    await git(['checkout-index', '--all', `--prefix=${to}${sep}`]);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
