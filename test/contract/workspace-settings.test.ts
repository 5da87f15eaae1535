import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const FILE = '.tidemill/config.yaml';
const FILES = { [FILE]: 'workers: 1\n', 'README.md': 'hello\n', 'src/a.txt': 'one\n' };
const MESSAGE = 'Change the settings\n';
const task = { number: 1, branch: 'task/1-t' };

let bed: Bed;
afterEach(() => bed.remove());

const ready = async () => {
  bed = await makeBed({ files: FILES });
};
const save = async (text: string) => {
  await writeFile(join(bed.root, FILE), text);
  return bed.workspace.commitFile(FILE, text, MESSAGE);
};
const status = () => git(bed.root, 'status', '--porcelain');

async function landSomething(files: Record<string, string> = { 'new.txt': 'new\n' }) {
  const { path } = await bed.workspace.open(task);
  await write(path, files);
  await bed.workspace.capture(task, 'work\n');
  const candidate = await bed.workspace.candidate(task);
  if (candidate.kind !== 'clean') throw new Error(candidate.kind);
  const commit = await bed.workspace.seal(task, candidate, 'Land\n');
  return bed.workspace.land(commit, candidate.base);
}

describe('settings that a person saves', () => {
  it('are committed to the target alone, and a fresh clone has them', async () => {
    await ready();
    await write(bed.root, { 'src/a.txt': 'mine\n', 'staged.txt': 'staged\n', 'README.md': 'half\n' });
    await git(bed.root, 'add', 'staged.txt', 'README.md');
    await appendFile(join(bed.root, 'README.md'), 'done\n');
    const before = await git(bed.root, 'diff', '--cached');
    expect(await save('workers: 2\n')).toMatchObject({ kind: 'committed' });
    expect(await git(bed.root, 'show', '--name-only', '--format=%an %s', 'HEAD')).toBe(
      `Tidemill Change the settings\n\n${FILE}`,
    );
    expect(await status()).toBe('MM README.md\n M src/a.txt\nA  staged.txt');
    expect(await git(bed.root, 'diff', '--cached')).toBe(before);
    await git(bed.root, 'clone', '-q', bed.root, join(bed.folder, 'clone'));
    expect(await readFile(join(bed.folder, 'clone', FILE), 'utf8')).toBe('workers: 2\n');
    expect(await bed.workspace.commitFile(FILE, 'workers: 2\n', MESSAGE)).toEqual({ kind: 'unchanged' });
  });

  it('do not hold up a landing, committed or not', async () => {
    await ready();
    expect(await save('workers: 2\n')).toMatchObject({ kind: 'committed' });
    expect(await landSomething()).toEqual({ kind: 'landed' });
    await bed.workspace.remove(task);
    // Edited with an editor, half of it staged.
    await write(bed.root, { [FILE]: 'workers: 3\n' });
    await git(bed.root, 'add', FILE);
    await write(bed.root, { [FILE]: 'workers: 4\n' });
    expect(await bed.workspace.landingObstacle()).toBe(null);
    expect(await landSomething({ 'more.txt': 'more\n' })).toEqual({ kind: 'landed' });
    expect(await status()).toBe(`MM ${FILE}`);
    expect(await readFile(join(bed.root, FILE), 'utf8')).toBe('workers: 4\n');
    expect(await git(bed.root, 'show', `:${FILE}`)).toBe('workers: 3');
  });

  it('hold up a landing that would overwrite them', async () => {
    await ready();
    await write(bed.root, { [FILE]: 'workers: 9\n' });
    expect(await landSomething({ [FILE]: 'workers: 5\n' })).toMatchObject({
      kind: 'waiting',
      why: expect.stringContaining(`${FILE} has uncommitted changes`),
    });
    expect(await readFile(join(bed.root, FILE), 'utf8')).toBe('workers: 9\n');
  });

  it('are not committed from another branch, which is not touched, and landing goes on', async () => {
    await ready();
    await git(bed.root, 'checkout', '-q', '-b', 'feature');
    expect(await save('workers: 2\n')).toEqual({ kind: 'left', why: `${bed.root} is not on main` });
    expect(await status()).toBe(` M ${FILE}`);
    expect(await landSomething()).toEqual({ kind: 'landed' });
    expect(await status()).toBe(` M ${FILE}`);
  });

  it.each<[string, RegExp, () => Promise<unknown>]>([
    ['git does not track them', /git does not track/, () => git(bed.root, 'rm', '-q', '--cached', FILE)],
    ['the person staged others', /you have staged other changes/, () => git(bed.root, 'add', FILE)],
    ['git ignores their changes', /told to ignore/, () => git(bed.root, 'update-index', '--skip-worktree', FILE)],
    ['git is at work', /index\.lock/, () => writeFile(join(bed.root, '.git/index.lock'), '')],
    ['a merge is open', /a merge is in progress/, () => writeFile(join(bed.root, '.git/MERGE_HEAD'), '')],
  ])('are not committed where %s', async (name, why, prepare) => {
    await ready();
    await write(bed.root, { [FILE]: 'workers: 7\n' });
    await prepare();
    if (name === 'git does not track them') await git(bed.root, 'commit', '-q', '-m', 'Untrack');
    const head = await git(bed.root, 'rev-parse', 'main');
    const index = await git(bed.root, 'ls-files', '-s');
    expect(await save('workers: 8\n')).toMatchObject({ kind: 'left', why: expect.stringMatching(why) });
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(head);
    expect(await git(bed.root, 'ls-files', '-s')).toBe(index);
    expect(await readFile(join(bed.root, FILE), 'utf8')).toBe('workers: 8\n');
  });

  it('are stored with the line endings that the repository declares', async () => {
    await ready();
    await write(bed.root, { '.gitattributes': '*.yaml text eol=crlf\n' });
    await git(bed.root, 'add', '-A');
    await git(bed.root, 'commit', '-q', '-m', 'Endings');
    expect(await save('workers: 2\r\nlanding: merge\r\n')).toMatchObject({ kind: 'committed' });
    expect(await git(bed.root, 'show', `HEAD:${FILE}`)).toBe('workers: 2\nlanding: merge');
    expect(await status()).toBe('');
  });
});
