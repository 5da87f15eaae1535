import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

// What counts as the remote's accepted history after somebody pushed by force. One repository for all: each test starts over.

let bed: Bed;
let remote: string;
let other: string;
let start: string;
beforeAll(async () => {
  bed = await makeBed();
  remote = join(bed.folder, 'remote.git');
  other = join(bed.folder, 'other');
  await git(bed.folder, 'init', '-q', '--bare', '-b', 'main', remote);
  await git(bed.root, 'remote', 'add', 'origin', remote);
  await git(bed.root, 'push', '-q', '-u', 'origin', 'main');
  await git(bed.folder, 'clone', '-q', remote, other);
  start = await git(bed.root, 'rev-parse', 'main');
});
afterAll(() => bed.remove());

let accepted: string;
let forced: string;
beforeEach(async () => {
  for (const folder of [bed.root, other]) await git(folder, 'reset', '-q', '--hard', start);
  for (const ref of ['fetched', 'accepted'])
    await git(bed.root, 'update-ref', '-d', `refs/tidemill/remote/${ref}/main`);
  accepted = await pushByOther('accepted.txt', '--force');
  await git(bed.root, 'pull', '-q');
  expect(await state()).toBe('same');
  await git(other, 'reset', '-q', '--hard', start);
  forced = await pushByOther('forced.txt', '--force');
  expect(await state()).toBe('rewritten');
});

const state = async () => (await bed.workspace.fetchTarget()).kind;
async function pushByOther(file: string, ...flags: string[]): Promise<string> {
  await write(other, { [file]: `${file}\n` });
  await git(other, 'add', '-A');
  await git(other, 'commit', '-q', '-m', file);
  await git(other, 'push', '-q', ...flags, 'origin', 'HEAD:main');
  return git(other, 'rev-parse', 'HEAD');
}
const bringTogether = () => git(bed.root, 'pull', '-q', '--no-rebase', '--no-edit');

describe('a remote that was pushed by force', () => {
  it('stays rewritten when others push on top of it', async () => {
    await pushByOther('on-top.txt');
    expect(await state()).toBe('rewritten');
    await pushByOther('more.txt');
    expect(await state()).toBe('rewritten');
  });

  it('stays rewritten when it is pushed by force once more', async () => {
    await git(other, 'reset', '-q', '--hard', start);
    await pushByOther('again.txt', '--force');
    expect(await state()).toBe('rewritten');
  });

  it('is what it was when the force is taken back', async () => {
    await git(other, 'reset', '-q', '--hard', accepted);
    await pushByOther('after.txt', '--force');
    expect(await state()).toBe('behind');
  });

  it('counts from the forced history on once a person has merged it, also if others pushed meanwhile', async () => {
    await bringTogether();
    await pushByOther('meanwhile.txt');
    expect(await state()).toBe('diverged');
    await bringTogether();
    expect(await state()).toBe('ahead');
  });

  it('is rewritten again by a second force that drops what a person has merged', async () => {
    await bringTogether();
    expect(await git(bed.root, 'merge-base', '--is-ancestor', forced, 'main')).toBe('');
    await git(other, 'reset', '-q', '--hard', accepted);
    await pushByOther('second.txt', '--force');
    expect(await state()).toBe('rewritten');
  });
});

describe('a commit is published', () => {
  it('when the remote has it as far as is known, and not otherwise', async () => {
    expect(await bed.workspace.isPublished(forced)).toBe(true);
    expect(await bed.workspace.isPublished(start)).toBe(true);
    expect(await bed.workspace.isPublished(accepted)).toBe(false);
    expect(await bed.workspace.isPublished('f'.repeat(40))).toBe(false);
    expect(await (await bed.reopen({ push: 'never' })).isPublished(forced)).toBe(false);
  });
});
