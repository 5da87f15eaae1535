import { rm, utimes, writeFile } from 'node:fs/promises';
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
