import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MergeLoss } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const TASK = { number: 7, branch: 'task/7-tide' };
const LOGO = Buffer.from([0, 1, 2, 3]);
let bed: Bed;
let tree: string;

/** A conflict in `gate.ts`. Main also changed other files, which merge cleanly. */
beforeEach(async () => {
  bed = await makeBed({
    files: {
      'gate.ts': 'open();\nlevel(1);\n',
      'clean.ts': 'one();\ntwo();\n',
      'old.ts': 'a();\nb();\nc();\n',
      'run.sh': 'echo\n',
      'logo.bin': 'a\0b',
    },
  });
  tree = (await bed.workspace.open(TASK)).path;
  await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n', 'mine.ts': 'mine();\n' });
  await bed.workspace.capture(TASK, 'work');
  await write(bed.root, {
    'gate.ts': 'open();\nlevel(1);\nbyMain();\n',
    'clean.ts': 'one();\ntwo();\nthree();\n',
    'new.ts': 'fresh();\n',
  });
  await rm(join(bed.root, 'old.ts'));
  await writeFile(join(bed.root, 'logo.bin'), LOGO);
  await chmod(join(bed.root, 'run.sh'), 0o755);
  await commit('meanwhile');
  expect((await bed.workspace.mergeTarget(TASK)).files).toEqual(['gate.ts']);
});
afterEach(() => bed.remove());

async function commit(message: string): Promise<void> {
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', message);
}
const BOTH = 'open();\nlevel(2);\nbyMain();\nbyTask();\n';
const capture = () => bed.workspace.capture(TASK, 'resolved');
const losses = () => bed.workspace.mergeLosses(TASK);
const short = (found: MergeLoss[]) =>
  found.map(({ path, kind, lines }) => `${path} ${kind} ${lines.map(({ line }) => line).join(',')}`.trim()).sort();
const lost = async () => short(await losses());
const isMerge = async () => (await git(bed.root, 'rev-list', '--parents', '-1', TASK.branch)).split(' ').length === 3;

const EVERYTHING = [
  'clean.ts lines 3',
  'gate.ts lines 3',
  'logo.bin content',
  'new.ts file 1',
  'old.ts deleted_file 1,2,3',
  'run.sh mode',
];

describe('the loss in a conflict is judged right when the agent', () => {
  test('keeps both sides: nothing is lost', async () => {
    await write(tree, { 'gate.ts': BOTH });
    await capture();
    expect(await isMerge()).toBe(true);
    expect(await losses()).toEqual([]);
  });

  test('throws away the whole of main, also where nothing was in conflict', async () => {
    await git(tree, 'checkout', '-q', '-f', TASK.branch, '--', '.');
    await git(tree, 'rm', '-q', '-f', 'new.ts');
    await capture();
    expect(await lost()).toEqual(EVERYTHING);
    const [first] = (await losses()).filter(({ path }) => path === 'gate.ts');
    expect(first).toMatchObject({ lines: [{ line: 3, text: 'byMain();' }], lineCount: 1 });
  });

  test('merges by itself with the strategy `ours`', async () => {
    await git(tree, 'merge', '--abort');
    await git(tree, 'merge', '-q', '-s', 'ours', '-m', 'mine', 'main');
    await capture();
    expect(await isMerge()).toBe(true);
    expect(await lost()).toEqual(EVERYTHING);
  });

  test('aborts the merge, or hides it: main is not merged then, so nothing can be lost', async () => {
    await git(tree, 'merge', '--abort');
    await capture();
    expect([await isMerge(), await losses()]).toEqual([false, []]);
    expect(await bed.workspace.candidate(TASK)).toMatchObject({ kind: 'conflict' });
    await bed.workspace.mergeTarget(TASK);
    const admin = join(bed.root, '.git/worktrees', (await readdir(join(bed.root, '.git/worktrees')))[0]!);
    await rm(join(admin, 'MERGE_HEAD'));
    await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n' });
    await capture();
    expect(await losses()).toEqual([]);
    expect(await bed.workspace.candidate(TASK)).toMatchObject({ kind: 'conflict' });
  });

  test('resolves it well and drops main’s line in a later commit', async () => {
    await write(tree, { 'gate.ts': BOTH });
    await capture();
    await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n' });
    await capture();
    expect(await isMerge()).toBe(false);
    expect(await lost()).toEqual(['gate.ts lines 3']);
  });

  test('puts back what it was told about: the loss is gone, in any later commit', async () => {
    await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n', 'clean.ts': 'one();\ntwo();\n' });
    await capture();
    expect(await lost()).toEqual(['clean.ts lines 3', 'gate.ts lines 3']);
    await write(tree, { 'clean.ts': 'one();\ntwo();\n  three();\n' });
    await capture();
    expect(await lost()).toEqual(['gate.ts lines 3']);
    await write(tree, { 'mine.ts': 'mine();\nbyMain();\n' });
    await capture();
    expect(await losses()).toEqual([]);
  });

  test('drops what main itself removed meanwhile: only the rest is lost', async () => {
    await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n', 'clean.ts': 'one();\ntwo();\n' });
    await capture();
    await write(bed.root, { 'gate.ts': 'open();\nlevel(1);\nother();\n' });
    await git(bed.root, 'mv', 'clean.ts', 'tidy.ts');
    await commit('changed again');
    expect(await lost()).toEqual(['clean.ts lines 3']);
  });

  test('changes main’s lines later where there was no conflict', async () => {
    await write(tree, { 'gate.ts': BOTH });
    await capture();
    await write(tree, { 'clean.ts': 'one();\ntwo();\nfour();\n' });
    await capture();
    expect(await losses()).toEqual([]);
  });

  test('renames the file, and main’s line is in it', async () => {
    await rm(join(tree, 'gate.ts'));
    await write(tree, { 'sluice.ts': BOTH });
    await capture();
    expect(await losses()).toEqual([]);
    await write(tree, { 'sluice.ts': 'open();\nlevel(2);\nbyTask();\n' });
    await capture();
    expect(await lost()).toEqual(['gate.ts file 3']);
  });

  test('leaves tip and target the same: they are examined once', async () => {
    await write(tree, { 'gate.ts': 'open();\nlevel(2);\nbyTask();\n' });
    await capture();
    expect(await losses()).toBe(await losses());
    expect(await readFile(join(tree, 'gate.ts'), 'utf8')).toContain('byTask');
  });
});

test('a submodule that main moved is taken over with the merge', async () => {
  const other = await makeBed({ files: { 'a.txt': 'one\n' } });
  try {
    const link = (folder: string, oid: string) =>
      git(folder, 'update-index', '--add', '--cacheinfo', `160000,${oid},lib`);
    const [first, second] = ['1'.repeat(40), '2'.repeat(40)];
    await write(other.root, { '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n' });
    await git(other.root, 'add', '.gitmodules');
    await link(other.root, first);
    await git(other.root, 'commit', '-q', '-m', 'module');
    const { path } = await other.workspace.open(TASK);
    await write(path, { 'a.txt': 'task\n' });
    await other.workspace.capture(TASK, 'work');
    await write(other.root, { 'a.txt': 'main\n' });
    await git(other.root, 'add', 'a.txt');
    await link(other.root, second);
    await git(other.root, 'commit', '-q', '-m', 'moved on');
    await other.workspace.mergeTarget(TASK);
    await write(path, { 'a.txt': 'main task\n' });
    await other.workspace.capture(TASK, 'resolved');
    expect(await git(other.root, 'ls-tree', TASK.branch, 'lib')).toContain(second);
    expect(await other.workspace.mergeLosses(TASK)).toEqual([]);
  } finally {
    await other.remove();
  }
});
