import { chmod, lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConflictFile, Resolution } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FolderImage } from '../support/folder-image.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const TASK = { number: 7, branch: 'task/7-tide' };
const yes = async () => undefined;
const MARKED = '<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n';
let bed: Bed;
let tree: string;

let made: Bed;
let image: FolderImage;

beforeAll(async () => {
  bed = made = await makeBed({
    files: {
      'text.txt': 'one\ntwo\nthree\n',
      'windows.txt': 'one\r\ntwo\r\nthree',
      'run.sh': '#!/bin/sh\necho one\n',
      'sub/ümläut name.txt': 'one\n',
      'edited.txt': 'one\n',
      'gone-there.txt': 'one\n',
      'gone-here.txt': 'one\n',
      'old-name.txt': `${'a line that stays\n'.repeat(20)}one\n`,
      'picture.bin': 'a\u0000b',
      'large.txt': `${'x'.repeat(99)}\n`.repeat(11_000),
      'sample.txt': `${MARKED}one\n`,
    },
  });
  await chmod(join(bed.root, 'run.sh'), 0o755);
  await symlink('one', join(bed.root, 'pointer'));
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'executable');
  tree = (await bed.workspace.open(TASK)).path;
  await change(tree, 'task');
  await rm(join(tree, 'gone-here.txt'));
  await rm(join(tree, 'old-name.txt'));
  await write(tree, { 'name-of-task.txt': `${'a line that stays\n'.repeat(20)}one\n`, 'new.txt': 'by task\n' });
  await bed.workspace.capture(TASK, 'work');
  await change(bed.root, 'main');
  await rm(join(bed.root, 'gone-there.txt'));
  await git(bed.root, 'mv', 'old-name.txt', 'name-of-main.txt');
  await write(bed.root, { 'gone-here.txt': 'main\n', 'new.txt': 'by main\n' });
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'meanwhile');
  image = new FolderImage(bed.folder);
});
// At the same path as before, because worktrees know where they are.
beforeEach(async () => {
  await made.remove();
  image.writeTo(made.folder);
  for (const folder of [made.root, tree]) await git(folder, 'update-index', '-q', '--refresh');
  bed = { ...made, workspace: await made.reopen() };
});
afterAll(() => made.remove());

async function change(folder: string, by: string): Promise<void> {
  await rm(join(folder, 'pointer'));
  await symlink(by, join(folder, 'pointer'));
  await write(folder, {
    'text.txt': `one\n${by}\nthree\n`,
    'windows.txt': `one\r\n${by}\r\nthree`,
    'run.sh': `#!/bin/sh\necho ${by}\n`,
    'sub/ümläut name.txt': `${by}\n`,
    'edited.txt': `${by}\n`,
    'gone-there.txt': `${by}\n`,
    'picture.bin': `${by}\u0000`,
    'large.txt': `${by}\n${`${'x'.repeat(99)}\n`.repeat(11_000)}`,
    'sample.txt': `${MARKED}${by}\n`,
  });
}
const open = () => bed.workspace.openMerge(TASK, yes);
const resolve = (path: string, resolution: Resolution) => bed.workspace.resolveFile(TASK, path, resolution, yes);
/** These are about other matters than what is lost. */
const settling = { message: 'resolved', isAccepted: () => true };
const settle = () => bed.workspace.settleMerge(TASK, settling, yes);
const named = (files: ConflictFile[], path: string) => files.find((file) => file.path === path)!;
const on = async (path: string) => readFile(join(tree, path), 'utf8');

describe('a conflict in a worktree', () => {
  test('is shown from all sides, whatever kind of file it is', async () => {
    const { path, isBehind, files } = await open();
    expect({ path, isBehind }).toEqual({ path: tree, isBehind: false });
    const kinds = Object.fromEntries(files.map(({ path: name, kind, form }) => [name, `${kind} ${form}`]));
    expect(kinds).toEqual({
      'edited.txt': 'both_changed text',
      'gone-here.txt': 'deleted_by_task text',
      'gone-there.txt': 'deleted_by_target text',
      'large.txt': 'both_changed large',
      'name-of-main.txt': 'added_by_target text',
      'name-of-task.txt': 'added_by_task text',
      'new.txt': 'both_added text',
      'old-name.txt': 'both_deleted text',
      'picture.bin': 'both_changed binary',
      pointer: 'both_changed symlink',
      'run.sh': 'both_changed text',
      'sample.txt': 'both_changed text',
      'sub/ümläut name.txt': 'both_changed text',
      'text.txt': 'both_changed text',
      'windows.txt': 'both_changed text',
    });
    expect(named(files, 'text.txt')).toMatchObject({
      base: 'one\ntwo\nthree\n',
      ours: 'one\ntask\nthree\n',
      theirs: 'one\nmain\nthree\n',
      isText: true,
      isResolved: false,
      hasMarkers: true,
      current: expect.stringContaining('<<<<<<< '),
    });
    expect(named(files, 'gone-there.txt')).toMatchObject({ base: 'one\n', ours: 'task\n', theirs: null });
    expect(named(files, 'picture.bin')).toMatchObject({ isText: false, ours: null, theirs: null, current: null });
    expect(named(files, 'large.txt')).toMatchObject({ isText: false, hasMarkers: true });
  });

  test('is resolved file by file: line endings, modes and last lines stay as they were', async () => {
    await open();
    expect(await bed.workspace.hasBegunMerge(TASK)).toBe(false);
    expect(await resolve('text.txt', { text: 'one\ntask\nmain\nthree\n' })).toMatchObject({
      isResolved: true,
      hasMarkers: false,
      current: 'one\ntask\nmain\nthree\n',
      ours: 'one\ntask\nthree\n',
    });
    expect(await bed.workspace.hasBegunMerge(TASK)).toBe(true);
    // Again, and by another's hand at once.
    await Promise.all([
      resolve('text.txt', { text: 'one\nboth\nthree\n' }),
      resolve('windows.txt', { text: 'one\nboth\nthree' }),
    ]);
    expect(await on('text.txt')).toBe('one\nboth\nthree\n');
    expect(await on('windows.txt')).toBe('one\r\nboth\r\nthree');
    await resolve('run.sh', { text: '#!/bin/sh\necho both\n' });
    expect((await lstat(join(tree, 'run.sh'))).mode & 0o777).toBe(0o755);
    await resolve('sub/ümläut name.txt', { take: 'theirs' });
    expect(await on('sub/ümläut name.txt')).toBe('main\n');
    await resolve('sub/ümläut name.txt', { take: 'ours' });
    expect(await on('sub/ümläut name.txt')).toBe('task\n');
    await resolve('gone-there.txt', { take: 'theirs' });
    await resolve('gone-here.txt', { take: 'theirs' });
    expect(await on('gone-here.txt')).toBe('main\n');
    await resolve('picture.bin', { take: 'theirs' });
    await resolve('large.txt', { take: 'ours' });
    await resolve('pointer', { take: 'theirs' });
    expect(await readlink(join(tree, 'pointer'))).toBe('main');
    await resolve('new.txt', { text: 'by both\n' });
    await resolve('old-name.txt', { take: 'deleted' });
    await resolve('name-of-main.txt', { take: 'theirs' });
    await resolve('name-of-task.txt', { take: 'deleted' });
    // A sample of a conflict that both sides have is no conflict.
    await resolve('sample.txt', { text: `${MARKED}both\n` });
    // Edited in the worktree, without a word to git.
    expect(await settle()).toEqual({
      kind: 'left',
      left: [{ path: 'edited.txt', why: 'conflict markers remain' }],
    });
    await writeFile(join(tree, 'edited.txt'), 'both\n');
    const settled = await settle();
    expect(settled).toMatchObject({
      kind: 'settled',
      notes: expect.not.arrayContaining([expect.stringMatching(/edited/)]),
    });
    const commit = settled.kind === 'settled' ? settled.commit : '';
    const main = await git(bed.root, 'rev-parse', 'main');
    expect(await git(bed.root, 'rev-parse', `${commit}^2`)).toBe(main);
    expect(await git(bed.root, 'diff', '--name-status', main, commit)).toBe(
      [
        'M\tedited.txt',
        'M\tlarge.txt',
        'M\tnew.txt',
        'M\trun.sh',
        'M\tsample.txt',
        'M\t"sub/\\303\\274ml\\303\\244ut name.txt"',
        'M\ttext.txt',
        'M\twindows.txt',
      ].join('\n'),
    );
    expect(await git(bed.root, 'ls-tree', commit, 'run.sh')).toMatch(/^100755 /);
    expect(await git(bed.root, 'show', `${commit}:windows.txt`)).toBe('one\r\nboth\r\nthree');
    expect(await bed.workspace.candidate(TASK)).toMatchObject({ kind: 'clean' });
    // Repeating it is safe: the first reply may have been lost.
    expect(await settle()).toMatchObject({ kind: 'settled', commit });
  });

  test('is left where nobody decided about it, also where git writes no markers', async () => {
    await open();
    for (const path of [
      'text.txt',
      'windows.txt',
      'run.sh',
      'sub/ümläut name.txt',
      'edited.txt',
      'new.txt',
      'sample.txt',
      'large.txt',
    ])
      await resolve(path, { take: 'ours' });
    const settled = await settle();
    const left = settled.kind === 'left' ? settled.left.map(({ path }) => path) : [];
    expect(left).toEqual([
      'gone-here.txt',
      'gone-there.txt',
      'name-of-main.txt',
      'name-of-task.txt',
      'picture.bin',
      'pointer',
    ]);
    // With git itself, as the commands say.
    await git(tree, 'rm', '-q', 'gone-here.txt', 'gone-there.txt', 'name-of-task.txt');
    await git(tree, 'checkout', '--theirs', 'picture.bin', 'pointer');
    await git(tree, 'add', 'name-of-main.txt', 'picture.bin', 'pointer');
    expect(await settle()).toMatchObject({ kind: 'settled' });
    expect(await git(bed.root, 'diff', '--name-only', 'main', TASK.branch)).not.toContain('picture.bin');
  });

  test('may be committed by a person, too', async () => {
    await open();
    await git(tree, 'checkout', '-q', 'MERGE_HEAD', '--', '.');
    await git(tree, 'add', '-A');
    await writeFile(join(tree, 'text.txt'), MARKED);
    await git(tree, 'commit', '-q', '-a', '-m', 'by hand');
    expect(await open()).toMatchObject({ files: [] });
    expect(await settle()).toMatchObject({ kind: 'left', left: [{ path: 'text.txt' }] });
    await writeFile(join(tree, 'text.txt'), 'both\n');
    await git(tree, 'commit', '-q', '-a', '-m', 'by hand again');
    expect(await settle()).toMatchObject({ kind: 'settled' });
    expect(await bed.workspace.candidate(TASK)).not.toMatchObject({ kind: 'conflict' });
  });

  test('is not disturbed by asking again; a newer target is taken only as long as nothing is resolved', async () => {
    await open();
    const later = async (text: string) => {
      await write(bed.root, { 'later.txt': text });
      await git(bed.root, 'add', '-A');
      await git(bed.root, 'commit', '-q', '-m', text);
      return git(bed.root, 'rev-parse', 'main');
    };
    const newer = await later('first');
    expect(await open()).toMatchObject({ isBehind: false });
    expect(await git(tree, 'rev-parse', 'MERGE_HEAD')).toBe(newer);
    await resolve('text.txt', { text: 'mine\n' });
    await writeFile(join(tree, 'edited.txt'), 'half done\n');
    await later('second');
    expect(await open()).toMatchObject({ isBehind: true });
    expect(await git(tree, 'rev-parse', 'MERGE_HEAD')).toBe(newer);
    expect([await on('text.txt'), await on('edited.txt')]).toEqual(['mine\n', 'half done\n']);
  });

  test('work that lay in the worktree is in a snapshot before the merge begins', async () => {
    await write(tree, { 'text.txt': 'not committed\n' });
    await open();
    const [kept] = await bed.workspace.snapshots();
    expect(await git(bed.root, 'show', `${kept!.ref}:text.txt`)).toBe('not committed');
  });

  test('is found by a restarted daemon as it was left', async () => {
    await open();
    await resolve('text.txt', { text: 'mine\n' });
    const other = await bed.reopen();
    expect(await other.collectGarbage([TASK])).toEqual([]);
    const { files } = await other.openMerge(TASK, yes);
    expect(named(files, 'text.txt')).toMatchObject({ current: 'mine\n', isResolved: true, base: 'one\ntwo\nthree\n' });
    expect(named(files, 'edited.txt')).toMatchObject({ isResolved: false, hasMarkers: true });
  });

  test('a task that is no longer a person’s is not touched', async () => {
    await open();
    const no = async () => {
      throw new Error('somebody works on it');
    };
    const before = await on('text.txt');
    await expect(bed.workspace.resolveFile(TASK, 'text.txt', { take: 'ours' }, no)).rejects.toThrow('somebody');
    await expect(bed.workspace.settleMerge(TASK, settling, no)).rejects.toThrow('somebody');
    await expect(bed.workspace.openMerge(TASK, no)).rejects.toThrow('somebody');
    expect(await on('text.txt')).toBe(before);
  });

  test('a path that git does not call conflicting is refused, and nothing is written', async () => {
    await open();
    const before = await git(tree, 'status', '--porcelain');
    for (const path of [
      '../outside.txt',
      '/etc/passwd',
      '.git',
      '.git/config',
      'sub/../text.txt',
      './text.txt',
      'TEXT.TXT',
      '',
      'not-in-conflict.txt',
      'text.txt\0',
      'text.txt\n',
      'sub',
      '*.txt',
      ':/text.txt',
      join(tree, 'text.txt'),
    ]) {
      await expect(resolve(path, { text: 'evil' }), path).rejects.toMatchObject({ code: 'bad_input' });
      await expect(resolve(path, { take: 'deleted' }), path).rejects.toMatchObject({ code: 'bad_input' });
    }
    expect(await git(tree, 'status', '--porcelain')).toBe(before);
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
  });

  test('nothing is written through a symbolic link', async () => {
    await open();
    const outside = join(bed.folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'text.txt'), 'untouched');
    await rm(join(tree, 'text.txt'));
    await symlink(join(outside, 'text.txt'), join(tree, 'text.txt'));
    await resolve('text.txt', { text: 'mine\n' });
    expect((await lstat(join(tree, 'text.txt'))).isFile()).toBe(true);
    expect(await readFile(join(outside, 'text.txt'), 'utf8')).toBe('untouched');
    await rm(join(tree, 'sub'), { recursive: true });
    await symlink(outside, join(tree, 'sub'));
    await expect(resolve('sub/ümläut name.txt', { text: 'evil' })).rejects.toMatchObject({ code: 'bad_input' });
    await expect(resolve('sub/ümläut name.txt', { take: 'theirs' })).rejects.toMatchObject({ code: 'bad_input' });
    await expect(lstat(join(outside, 'ümläut name.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('refuses a text with markers in it, or for a file that is not text', async () => {
    await open();
    const refused: [string, string][] = [
      ['text.txt', `x\n${MARKED}`],
      ['windows.txt', MARKED.replaceAll('\n', '\r\n')],
      ['text.txt', MARKED.replaceAll(/([<=>])\1{6}/g, '$1$1$1$1$1$1$1$1$1')],
      ['text.txt', 'a\0b'],
      ['picture.bin', 'text'],
      ['large.txt', 'text'],
    ];
    for (const [path, text] of refused) {
      const before = await readFile(join(tree, path));
      await expect(resolve(path, { text }), path).rejects.toMatchObject({ code: 'bad_input' });
      expect((await readFile(join(tree, path))).equals(before)).toBe(true);
    }
  });

  test('in a submodule is settled by the chosen link, also where the merge alone moved one', async () => {
    const sub = join(bed.folder, 'sub');
    await mkdir(sub);
    await git(sub, 'init', '-q', '-b', 'main');
    const commitIn = async (text: string, from?: string) => {
      if (from) await git(sub, 'checkout', '-q', '--detach', from);
      await git(sub, 'commit', '-q', '--allow-empty', '-m', text);
      return git(sub, 'rev-parse', 'HEAD');
    };
    const first = await commitIn('first');
    const [here, there] = [await commitIn('here', first), await commitIn('there', first)];
    const root = await makeBed({ files: { 'a.txt': 'one\n' } });
    try {
      const link = async (folder: string, name: string, oid: string) =>
        git(folder, 'update-index', '--add', '--cacheinfo', `160000,${oid},${name}`);
      await write(root.root, { '.gitmodules': `[submodule "lib"]\n\tpath = lib\n\turl = ${sub}\n` });
      for (const name of ['lib', 'other']) await link(root.root, name, first);
      await git(root.root, 'add', '.gitmodules');
      await git(root.root, 'commit', '-q', '-m', 'modules');
      for (const name of ['lib', 'other']) await mkdir(join(root.root, name), { recursive: true });
      const { path } = await root.workspace.open(TASK);
      await write(path, { 'a.txt': 'task\n' });
      await root.workspace.capture(TASK, 'work');
      // No agent moves a link. One that a person moved on the branch does count.
      await link(path, 'lib', here);
      await git(path, 'commit', '-q', '-m', 'link');
      await git(path, 'update-ref', `refs/tidemill/heads/${TASK.branch}`, 'HEAD');
      await link(root.root, 'lib', there);
      await link(root.root, 'other', there);
      await git(root.root, 'commit', '-q', '-m', 'moved on');
      const { files } = await root.workspace.openMerge(TASK, yes);
      expect(files).toMatchObject([{ path: 'lib', form: 'submodule', isText: false, isResolved: false }]);
      expect(await root.workspace.settleMerge(TASK, settling, yes)).toMatchObject({
        kind: 'left',
        left: [{ path: 'lib' }],
      });
      const take = (resolution: Resolution) => root.workspace.resolveFile(TASK, 'lib', resolution, yes);
      await expect(take({ text: here })).rejects.toMatchObject({ code: 'bad_input' });
      await take({ take: 'theirs' });
      const settled = await root.workspace.settleMerge(TASK, settling, yes);
      const commit = settled.kind === 'settled' ? settled.commit : '';
      expect(await git(root.root, 'ls-tree', commit, 'lib', 'other')).toBe(
        [`160000 commit ${there}\tlib`, `160000 commit ${there}\tother`].join('\n'),
      );
    } finally {
      await root.remove();
    }
  });

  test('a heading underlined with equals signs is no marker', async () => {
    await open();
    expect(await resolve('text.txt', { text: 'Title\n=======\n\n>>>>>>> quoted\n' })).toMatchObject({
      isResolved: true,
    });
  });
});
