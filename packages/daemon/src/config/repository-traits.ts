import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitWith } from '../git/program.ts';
import { findProgram } from '../process/program.ts';

/** What works differently in this repository, and what would help. */
export async function traitWarnings(root: string): Promise<string[]> {
  const shallow = existsSync(join(root, '.git/shallow')) ? [SHALLOW] : [];
  return [...shallow, ...(await submoduleWarnings(root)), ...(await lfsWarnings(root))];
}

const SHALLOW =
  'this is a shallow clone: work lands and is pushed, but older commits and their evidence are missing; `git fetch --unshallow` gets them';

async function submoduleWarnings(root: string): Promise<string[]> {
  if (!existsSync(join(root, '.gitmodules'))) return [];
  const { stdout } = await gitWith({ cwd: root })(['ls-files', '-s', '-z']);
  const links = stdout.split('\0').filter((line) => line.startsWith('160000 '));
  const empty = links
    .map((line) => line.slice(line.indexOf('\t') + 1))
    .filter((path) => !existsSync(join(root, path, '.git')));
  if (empty.length === 0) return [];
  const named = `${empty.slice(0, 3).join(', ')}${empty.length > 3 ? ` and ${empty.length - 3} more` : ''}`;
  return [
    `submodules that are not initialised are empty for agents and gates: ${named}; \`git submodule update --init --recursive\` gets their files`,
  ];
}

/** Only the attributes at the root are read: that is where git-lfs writes them. */
async function lfsWarnings(root: string): Promise<string[]> {
  const attributes = await readFile(join(root, '.gitattributes'), 'utf8').catch(() => '');
  if (!/^[^#\n]*\sfilter=lfs(\s|$)/m.test(attributes)) return [];
  const program = await findProgram('git-lfs', { PATH: process.env.PATH ?? '' }, root);
  const ask = ['config', '--get-regexp', '^filter\\.lfs\\.(process|smudge|required)$'];
  const { stdout } = await gitWith({ cwd: root })(ask, { answers: [1] });
  const isSetUp = /^filter\.lfs\.(process|smudge) /m.test(stdout);
  if ('file' in program && isSetUp) return missingLfsFiles(root);
  if ('missing' in program && /^filter\.lfs\.required true$/m.test(stdout))
    return ['this repository uses Git LFS, but git-lfs is not installed: no worktree can be opened; install git-lfs'];
  const help = 'file' in program ? 'run `git lfs install`' : 'install git-lfs and run `git lfs install`';
  return [
    `this repository uses Git LFS, but git-lfs is not set up: agents and gates see pointer files, and new files are stored whole; ${help}`,
  ];
}

/** git-lfs marks a file whose content is not here with a hyphen. */
async function missingLfsFiles(root: string): Promise<string[]> {
  const { stdout } = await gitWith({ cwd: root })(['lfs', 'ls-files'], { answers: [1, 2, 128] });
  const missing = stdout.split('\n').filter((line) => /^[0-9a-f]+ - /.test(line));
  if (missing.length === 0) return [];
  const [first = ''] = missing.map((line) => line.replace(/^[0-9a-f]+ - /, ''));
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
  return [
    `files of Git LFS are not downloaded (${first}${more}): each worktree would have to fetch them; \`git lfs pull\` gets them once`,
  ];
}
