import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

// What a person has begun in the checkout of the target, each kind once, in one repository.

let bed: Bed;
let theirs: string;
let first: string;
let mine: string;
beforeAll(async () => {
  bed = await makeBed();
  await git(bed.root, 'checkout', '-q', '-b', 'other');
  theirs = await commit('theirs');
  await git(bed.root, 'checkout', '-q', 'main');
  first = await commit('first');
  mine = await commit('mine');
});
afterAll(() => bed.remove());

async function commit(text: string): Promise<string> {
  await write(bed.root, { 'src/a.txt': `${text}\n` });
  await git(bed.root, 'commit', '-q', '-am', text);
  return git(bed.root, 'rev-parse', 'HEAD');
}
const obstacle = () => bed.workspace.landingObstacle();

describe('landing waits for', () => {
  test.each<[string, string, () => string[], string[]]>([
    ['a merge', 'a merge', () => ['merge', theirs], ['merge', '--abort']],
    ['a rebase', 'a rebase', () => ['rebase', '--merge', 'other'], ['rebase', '--abort']],
    ['a rebase by patches', 'a rebase', () => ['rebase', '--apply', 'other'], ['rebase', '--abort']],
    ['a cherry-pick', 'a cherry-pick', () => ['cherry-pick', theirs], ['cherry-pick', '--abort']],
    ['a revert', 'a revert', () => ['revert', '--no-edit', first], ['revert', '--abort']],
  ])('%s that a person has begun, and for nothing when it is over', async (_name, said, begin, abort) => {
    expect(await obstacle()).toBeNull();
    await expect(git(bed.root, ...begin())).rejects.toThrow();
    expect(await obstacle()).toContain(said);
    await git(bed.root, ...abort);
    expect(await obstacle()).toBeNull();
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(mine);
  });

  test('a rebase, and calls it so, also when a cherry-pick stopped inside it', async () => {
    await expect(git(bed.root, 'rebase', '--merge', 'other')).rejects.toThrow();
    await writeFile(join(bed.root, '.git/CHERRY_PICK_HEAD'), `${theirs}\n`);
    expect(await obstacle()).toContain('a rebase is in progress');
    await rm(join(bed.root, '.git/CHERRY_PICK_HEAD'));
    await git(bed.root, 'rebase', '--abort');
  });

  test('changed files, but not for the settings, which a person may change at any time', async () => {
    await write(bed.root, { 'README.md': 'changed\n' });
    expect(await obstacle()).toContain('README.md');
    await git(bed.root, 'checkout', '-q', 'README.md');
    await write(bed.root, { '.tidemill/config.yaml': 'target: main\n' });
    await git(bed.root, 'add', '.tidemill');
    await git(bed.root, 'commit', '-q', '-m', 'settings');
    await write(bed.root, { '.tidemill/config.yaml': 'target: main # mine\n' });
    expect(await obstacle()).toBeNull();
  });
});

test('a tracked file that is ignored stays tracked when the index of its agent is gone', async () => {
  await write(bed.root, { 'kept.log': 'one\n' });
  await git(bed.root, 'add', '-f', 'kept.log');
  await git(bed.root, 'commit', '-q', '-m', 'kept');
  const task = { number: 3, branch: 'task/3-log' };
  const { path } = await bed.workspace.open(task);
  await write(path, { 'new.txt': 'x\n' });
  const index = await git(path, 'rev-parse', '--path-format=absolute', '--git-path', 'index');
  await rm(index);
  const { commit: captured } = await bed.workspace.capture(task, 'work');
  expect(await git(bed.root, 'ls-tree', '--name-only', captured)).toContain('kept.log');
});

test('a lock that a killed git left in the folder of a worktree is in nobody’s way', async () => {
  const task = { number: 4, branch: 'task/4-lock' };
  const { path } = await bed.workspace.open(task);
  await git(path, 'checkout', '-q', '--detach');
  await write(path, { 'new.txt': 'x\n' });
  const lock = await git(path, 'rev-parse', '--path-format=absolute', '--git-path', 'HEAD.lock');
  await writeFile(lock, '');
  await utimes(lock, 1, 1);
  await bed.workspace.capture(task, 'work');
  expect(await git(path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${task.branch}`);
});

test('the scratch repository of a name begins empty, whatever an interrupted use left in it', async () => {
  const { path } = await bed.workspace.scratch('job-1');
  await write(path, { 'left.txt': 'left\n' });
  const again = await bed.workspace.scratch('job-1');
  expect(again.path).toBe(path);
  expect(await readdir(path)).toEqual(['.git', 'README.md']);
  expect(await git(path, 'rev-list', '--count', 'HEAD')).toBe('1');
});

test('checks of the target are put back whole, also when there are too many to name them to git', async () => {
  const names = Array.from({ length: 501 }, (_, n) => `checks/${n}.txt`);
  await write(bed.root, Object.fromEntries(names.map((name) => [name, 'old\n'])));
  await git(bed.root, 'add', '-A', 'checks');
  await git(bed.root, 'commit', '-q', '-m', 'checks');
  const base = await git(bed.root, 'rev-parse', 'HEAD');
  const task = { number: 8, branch: 'task/8-checks' };
  const { path } = await bed.workspace.open(task);
  await rm(join(path, 'checks/0.txt'));
  await write(path, { 'checks/1.txt': 'new\n', 'work.txt': 'work\n' });
  await bed.workspace.capture(task, 'work\n');
  const work = await git(bed.root, 'rev-parse', `${task.branch}^{tree}`);
  const { tree } = await bed.workspace.putBack(work, base, names);
  expect(await git(bed.root, 'diff', '--name-status', `${base}^{tree}`, tree)).toBe('A\twork.txt');
});

test('work whose branch somebody deleted from outside is found again by the record of its last commit', async () => {
  const task = { number: 9, branch: 'task/9-lost' };
  const { path } = await bed.workspace.open(task);
  await write(path, { 'lost.txt': 'work\n' });
  await bed.workspace.capture(task, 'work\n');
  await git(bed.root, 'worktree', 'remove', '--force', path);
  const refs = await git(bed.root, 'for-each-ref', '--format=%(refname)');
  for (const ref of refs.split('\n').filter((name) => name.includes('9-lost'))) {
    await git(bed.root, 'update-ref', '-d', ref);
  }
  const again = await bed.workspace.open(task);
  expect(await readdir(again.path)).toContain('lost.txt');
});
