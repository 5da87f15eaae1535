import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bed, git, makeBed } from './workspace-bed.ts';

let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

const commit = async (subject: string) => {
  await git(bed.root, 'commit', '-q', '--allow-empty', '-m', subject);
  return git(bed.root, 'rev-parse', 'HEAD');
};

test('the last tag before a commit is found, not one at it; there is none before the first tag', async () => {
  const first = await git(bed.root, 'rev-parse', 'HEAD');
  const { workspace } = bed;
  expect(await workspace.tagBefore(first)).toBeNull();
  await git(bed.root, 'tag', 'v1.0.0');
  const second = await commit('Second');
  await git(bed.root, 'tag', '-a', '-m', 'Release', 'v1.1.0');
  const third = await commit('Third');
  expect(await workspace.tagBefore(first)).toBeNull();
  expect(await workspace.tagBefore(second)).toBe('v1.0.0');
  expect(await workspace.tagBefore(third)).toBe('v1.1.0');
  expect(await workspace.commitNamed('v1.1.0')).toBe(second);
  const between = await workspace.commitsBetween(second, third, 10);
  expect(between.map(({ subject }) => subject)).toEqual(['Third']);
});

test.each(['nothing', 'main..v1', '--all', 'HEAD:README.md', 'a\nb', ''])('"%s" names no commit', async (name) => {
  expect(await bed.workspace.commitNamed(name)).toBeNull();
});
