import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Resolution } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

// What a resolution writes, and why it is refused. One merge serves all tests: each has its own file of it.

const TASK = { number: 7, branch: 'task/7-tide' };
const yes = async () => undefined;
const TEXTS = [
  'taken.txt',
  'folder.txt',
  'deep/er/file.txt',
  'linked/file.txt',
  'file/below.txt',
  'endings.txt',
  'mixed.txt',
];
const LINKS = ['open', 'empty', 'gone'];
let bed: Bed;
let tree: string;
const oids: Record<string, string> = {};

beforeAll(async () => {
  bed = await makeBed({
    files: {
      ...Object.fromEntries(TEXTS.map((path) => [path, 'one\n'])),
      'endings.txt': 'one\r\ntwo\r\n',
      'mixed.txt': 'one\r\ntwo\n',
      'run.sh': 'one\n',
      'picture.bin': 'a\0b',
    },
  });
  await chmod(join(bed.root, 'run.sh'), 0o755);
  await symlink('one', join(bed.root, 'pointer'));
  for (const name of ['start', 'task', 'main']) {
    const blank = await git(bed.root, 'commit-tree', '-m', name, await git(bed.root, 'rev-parse', 'HEAD^{tree}'));
    oids[name] = blank;
  }
  for (const name of LINKS) await link(bed.root, name, 'start');
  await git(bed.root, 'add', '-A', '--', ...TEXTS, 'run.sh', 'picture.bin', 'pointer');
  await git(bed.root, 'commit', '-q', '-m', 'start');
  for (const name of LINKS) await mkdir(join(bed.root, name), { recursive: true });
  tree = (await bed.workspace.open(TASK)).path;
  await change(tree, 'task');
  await bed.workspace.capture(TASK, 'work');
  for (const name of LINKS) await link(tree, name, 'task');
  await git(tree, 'commit', '-q', '-m', 'links');
  await git(tree, 'update-ref', `refs/tidemill/heads/${TASK.branch}`, 'HEAD');
  await change(bed.root, 'main');
  await git(bed.root, 'add', '-A', '--', ...TEXTS, 'run.sh', 'picture.bin', 'pointer');
  for (const name of LINKS) await link(bed.root, name, 'main');
  await git(bed.root, 'commit', '-q', '-m', 'meanwhile');
  await bed.workspace.openMerge(TASK, yes);
});
afterAll(() => bed.remove());

const link = (folder: string, path: string, name: string) =>
  git(folder, 'update-index', '--add', '--cacheinfo', `160000,${oids[name]},${path}`);
async function change(folder: string, by: string): Promise<void> {
  await rm(join(folder, 'pointer'));
  await symlink(by, join(folder, 'pointer'));
  await write(folder, {
    ...Object.fromEntries(TEXTS.map((path) => [path, `${by}\n`])),
    'endings.txt': `${by}\r\ntwo\r\n`,
    'mixed.txt': `${by}\r\ntwo\n`,
    'run.sh': `${by}\n`,
    'picture.bin': `${by}\0`,
  });
}
const resolve = (path: string, resolution: Resolution) => bed.workspace.resolveFile(TASK, path, resolution, yes);
const on = (path: string) => readFile(join(tree, path), 'utf8');
const isUnmerged = async (path: string) => (await git(tree, 'ls-files', '-u', '--', path)) !== '';
const chosen = async (path: string) => (await git(tree, 'ls-files', '-s', '--', path)).split(/\s/)[1];

async function isRefused(path: string, resolution: Resolution, message: string | RegExp, hint: string | RegExp) {
  await expect(resolve(path, resolution), path).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });
  expect(await isUnmerged(path)).toBe(true);
}

describe('a resolution is refused', () => {
  test.each<Resolution>([{ text: 'mine\n' }, { take: 'ours' }, { take: 'deleted' }])(
    'with %j where a folder is in the place of the file',
    async (resolution) => {
      await rm(join(tree, 'folder.txt'), { recursive: true });
      await write(tree, { 'folder.txt/inside': 'untouched' });
      await isRefused('folder.txt', resolution, /^"folder\.txt" cannot be written: another file or folder/, /Use git/);
      expect(await on('folder.txt/inside')).toBe('untouched');
    },
  );

  test.each<Resolution>([{ text: 'mine\n' }, { take: 'theirs' }, { take: 'deleted' }])(
    'with %j where a link or a file is in the place of its folder',
    async (resolution) => {
      const outside = join(bed.folder, 'outside');
      await write(outside, { 'file.txt': 'untouched' });
      await rm(join(tree, 'linked'), { recursive: true });
      await symlink(outside, join(tree, 'linked'));
      await isRefused('linked/file.txt', resolution, /cannot be written/, /The conflict lists the commands/);
      expect(await readFile(join(outside, 'file.txt'), 'utf8')).toBe('untouched');
      await rm(join(tree, 'file'), { recursive: true });
      await writeFile(join(tree, 'file'), 'untouched');
      await isRefused('file/below.txt', resolution, /cannot be written/, /Use git in the worktree/);
      expect(await on('file')).toBe('untouched');
    },
  );

  test.each<Resolution>([{ take: 'ours' }, { take: 'theirs' }, { take: 'deleted' }])(
    'with %j for a submodule that is checked out',
    async (resolution) => {
      await write(tree, { 'open/inside': 'untouched' });
      await isRefused('open', resolution, /^the submodule "open" is checked out in the worktree$/, /git add/);
      expect(await on('open/inside')).toBe('untouched');
    },
  );

  test.each([
    ['picture.bin', 'binary, or not UTF-8'],
    ['pointer', 'a symbolic link'],
    ['empty', 'a submodule'],
  ])('as a text for %s, which is none, and says what it is', async (path, what) => {
    await isRefused(path, { text: 'text' }, new RegExp(`cannot be resolved with text: it is ${what}$`), /Take a side/);
  });

  test('for a text with a NUL character, or with markers in it', async () => {
    await isRefused('taken.txt', { text: 'a\0b' }, /contains a NUL character/, /plain text/);
    const marked = '<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n';
    await isRefused(
      'taken.txt',
      { text: marked },
      /^conflict markers remain in the text for taken\.txt$/,
      /Resolve each/,
    );
  });
});

describe('a resolution is written', () => {
  test('into folders that are gone', async () => {
    await rm(join(tree, 'deep'), { recursive: true });
    await resolve('deep/er/file.txt', { text: 'both\n' });
    expect(await on('deep/er/file.txt')).toBe('both\n');
    expect(await isUnmerged('deep/er/file.txt')).toBe(false);
  });

  test('with the line endings of the file, unless the text has its own or the file has both', async () => {
    await resolve('endings.txt', { text: 'one\nboth\n' });
    expect(await on('endings.txt')).toBe('one\r\nboth\r\n');
    await resolve('endings.txt', { text: 'one\r\nboth\n' });
    expect(await on('endings.txt')).toBe('one\r\nboth\n');
    await resolve('mixed.txt', { text: 'one\nboth\n' });
    expect(await on('mixed.txt')).toBe('one\nboth\n');
  });

  test('as an executable file where it was one, also when it is gone', async () => {
    const mode = async () => (await lstat(join(tree, 'run.sh'))).mode & 0o777;
    await rm(join(tree, 'run.sh'));
    await resolve('run.sh', { text: 'both\n' });
    expect(await mode()).toBe(0o755);
    await chmod(join(tree, 'run.sh'), 0o700);
    await resolve('run.sh', { text: 'again\n' });
    expect(await mode()).toBe(0o700);
    await resolve('run.sh', { take: 'theirs' });
    expect(await mode()).toBe(0o755);
    await resolve('taken.txt', { take: 'ours' });
    expect((await lstat(join(tree, 'taken.txt'))).mode & 0o777).toBe(0o644);
  });

  test('as the commit of a submodule that is not checked out, or as none', async () => {
    await resolve('empty', { take: 'theirs' });
    expect(await chosen('empty')).toBe(oids.main);
    await resolve('empty', { take: 'ours' });
    expect(await chosen('empty')).toBe(oids.task);
    await resolve('gone', { take: 'deleted' });
    expect(await git(tree, 'ls-files', '-s', '--', 'gone')).toBe('');
    expect(await isUnmerged('gone')).toBe(false);
  });

  test('and nothing of it stays beside the worktree', async () => {
    expect((await readdir(join(bed.dataDir, 'index'))).filter((name) => name.endsWith('.resolved'))).toEqual([]);
  });
});
