import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

test('whether a commit has landed agrees with git, however the target moves', async () => {
  const { root, workspace } = bed;
  const task = { number: 1, branch: 'task/1-one' };
  const { path } = await workspace.open(task);
  const start = await git(root, 'rev-parse', 'main');
  await write(path, { 'work.txt': 'work\n' });
  const { commit } = await workspace.capture(task, 'Work');
  const known = [start, commit];
  const agrees = async () => {
    const inGit = (await git(root, 'rev-list', 'main')).split('\n');
    for (const each of known) expect(await workspace.isLanded(each), each).toBe(inGit.includes(each));
    known.push(inGit[0]!);
  };
  await agrees();
  const by = async (name: string) => {
    await write(root, { [name]: name });
    await git(root, 'add', '-A');
    await git(root, 'commit', '-q', '-m', name);
    await agrees();
  };
  // A squashed landing, then more than are followed one by one.
  for (let i = 0; i < 15; i += 1) await by(`file-${i}`);
  await git(root, 'merge', '-q', '--no-ff', '-m', 'Merge it', commit);
  await agrees();
  expect(await workspace.isLanded(commit)).toBe(true);
  await by('after');
  // A person resets the target: what was in it no longer is.
  await git(root, 'reset', '-q', '--hard', start);
  await agrees();
  expect(await workspace.isLanded(commit)).toBe(false);
  await by('other');
  await git(root, 'reset', '-q', '--hard', commit);
  await agrees();
  expect(await workspace.isLanded(commit)).toBe(true);
  expect(await workspace.isLanded('f'.repeat(40))).toBe(false);
  expect(await git(join(root), 'rev-parse', 'main')).toBe(commit);
});
