import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const branch = 'idea/1-tide';
const folder = '.tidemill/ideas/1-tide';
let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

const keep = (names: string[], text = 'text\n') =>
  bed.workspace.commitToBranch({ branch, folder, message: 'Keep it', files: names.map((name) => ({ name, text })) });
const names = async () => (await git(bed.root, 'ls-tree', '-r', '--name-only', branch)).split('\n');

test('files are committed to a branch of their own, once, and nothing of a person is touched', async () => {
  await write(bed.root, { 'src/a.txt': 'changed\n', 'src/new.txt': 'new\n' });
  await git(bed.root, 'add', 'src/new.txt');
  const before = await git(bed.root, 'status', '--porcelain');
  const main = await git(bed.root, 'rev-parse', 'main');
  expect(await keep(['README.md', 'problem.md'])).toEqual({ kind: 'kept' });
  expect(await names()).toEqual(expect.arrayContaining([`${folder}/README.md`, `${folder}/problem.md`, 'src/a.txt']));
  expect(await keep(['README.md', 'problem.md'])).toEqual({ kind: 'unchanged' });
  expect(await keep(['README.md', 'brief.md'], 'other\n')).toEqual({ kind: 'kept' });
  expect((await names()).filter((name) => name.startsWith(folder))).toEqual([
    `${folder}/README.md`,
    `${folder}/brief.md`,
  ]);
  expect(await git(bed.root, 'rev-list', '--count', `main..${branch}`)).toBe('2');
  expect(await git(bed.root, 'status', '--porcelain')).toBe(before);
  expect(await git(bed.root, 'rev-parse', 'main')).toBe(main);
});

test('a branch that is checked out, or whose name is taken, is left as it is', async () => {
  await keep(['README.md']);
  const tip = await git(bed.root, 'rev-parse', branch);
  await git(bed.root, 'worktree', 'add', '-q', `${bed.folder}/mine`, branch);
  expect(await keep(['other.md'])).toMatchObject({ kind: 'left', why: expect.stringContaining('is checked out') });
  expect(await git(bed.root, 'rev-parse', branch)).toBe(tip);
  await git(bed.root, 'branch', 'taken');
  const files = [{ name: 'README.md', text: 'x\n' }];
  const under = { branch: 'taken/2-x', folder, message: 'Keep it', files };
  expect(await bed.workspace.commitToBranch(under)).toMatchObject({ kind: 'left' });
});

test('a new branch is made also where the target has the same files already', async () => {
  await write(bed.root, { [`${folder}/README.md`]: 'text\n' });
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'The idea landed');
  expect(await keep(['README.md'])).toEqual({ kind: 'kept' });
  expect(await names()).toContain(`${folder}/README.md`);
});
