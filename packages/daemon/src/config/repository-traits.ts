import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitWith } from '../git/program.ts';
import { findProgram } from '../process/program.ts';

/** What works differently in this repository, and what would help. */
export async function traitWarnings(root: string): Promise<string[]> {
  const shallow = existsSync(join(root, '.git/shallow')) ? [SHALLOW] : [];
  return [...shallow, ...(await lfsWarnings(root))];
}

const SHALLOW =
  'this is a shallow clone: work lands and is pushed, but older commits and their evidence are missing; `git fetch --unshallow` gets them';

/** Only the attributes at the root are read: that is where git-lfs writes them. */
async function lfsWarnings(root: string): Promise<string[]> {
  const attributes = await readFile(join(root, '.gitattributes'), 'utf8').catch(() => '');
  if (!/^[^#\n]*\sfilter=lfs(\s|$)/m.test(attributes)) return [];
  const program = await findProgram('git-lfs', { PATH: process.env.PATH ?? '' }, root);
  const ask = ['config', '--get-regexp', '^filter\\.lfs\\.(process|smudge|required)$'];
  const { stdout } = await gitWith({ cwd: root })(ask, { answers: [1] });
  const isSetUp = /^filter\.lfs\.(process|smudge) /m.test(stdout);
  if ('file' in program && isSetUp) return [];
  if ('missing' in program && /^filter\.lfs\.required true$/m.test(stdout))
    return ['this repository uses Git LFS, but git-lfs is not installed: no worktree can be opened; install git-lfs'];
  const help = 'file' in program ? 'run `git lfs install`' : 'install git-lfs and run `git lfs install`';
  return [
    `this repository uses Git LFS, but git-lfs is not set up: agents and gates see pointer files, and new files are stored whole; ${help}`,
  ];
}
