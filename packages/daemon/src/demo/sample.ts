import { cp, mkdir, readdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '@tidemill/contract';
import { assetDir } from '../assets.ts';
import { gitWith } from '../git/program.ts';

const NAME = 'tide-almanac';

/** Creates the sample repository with its first commit and returns its root. Changes no existing files. */
export async function makeSample(place: { home: string; dir?: string }): Promise<string> {
  const folder = place.dir === undefined ? await freshFolder(join(place.home, 'demo')) : await chosen(place.dir);
  await cp(assetDir('demo/sample'), folder, { recursive: true });
  const git = gitWith({ cwd: folder, env: identity() });
  // An empty template: the person's own template may contain hooks.
  await git(['init', '-q', '--template=', '--initial-branch=main']);
  await git(['add', '-A']);
  await git(['commit', '-q', '-m', 'A tide almanac that can list the day']);
  return realpath(folder);
}

/** A second demo may take a free name first, so creating the folder decides who has it. */
async function freshFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const folder = join(parent, attempt === 1 ? NAME : `${NAME}-${attempt}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}

async function chosen(dir: string): Promise<string> {
  const folder = resolve(dir);
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) return folder;
  } catch (cause) {
    throw new AppError('bad_input', `the folder ${folder} cannot be used: ${(cause as Error).message}`, {
      hint: 'Use a new or empty folder, or omit --dir.',
      cause,
    });
  }
  throw new AppError('bad_input', `the folder ${folder} is not empty`, {
    hint: 'The demo does not overwrite files. Use another folder, or omit --dir.',
  });
}

/** The demo's first commit needs an author, even if git has none configured. */
function identity(): Record<string, string> {
  const [name, email] = ['Tidemill demo', 'demo@tidemill.invalid'];
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
