import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CleanCheckout } from '../../packages/daemon/src/ports.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

// The clean checkouts in which gates run. They are a pool, so one bed serves all tests.

let bed: Bed;
let first: string;
let second: string;
beforeAll(async () => {
  bed = await makeBed();
  first = await git(bed.root, 'rev-parse', 'main');
  await write(bed.root, { 'b.txt': 'b\n', 'src/a.txt': 'changed\n' });
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'second');
  second = await git(bed.root, 'rev-parse', 'main');
});
afterAll(() => bed.remove());

/** Of new ones that are made while a closed one is tidied. */
const MOST = 20;
const out = (commit = first) => bed.workspace.checkOut(commit);
/** Takes checkouts until one is the wanted one, or fails, and returns the others. A closed one is tidied beside other work. */
async function taken(isWanted: (next: CleanCheckout) => boolean): Promise<CleanCheckout> {
  const others: CleanCheckout[] = [];
  try {
    for (let tries = 0; tries < MOST; tries += 1) {
      const next = await out();
      if (isWanted(next)) return next;
      others.push(next);
    }
    throw new Error('it was not used again');
  } finally {
    for (const other of others) await other.close();
  }
}
/** The same one once more. */
const again = (name: string) => taken((next) => next.name === name);
const pool = async () => (await readdir(join(bed.dataDir, 'proofs'))).sort();
const has = (path: string, file: string) => existsSync(join(path, file));

describe('a clean checkout', () => {
  test('is returned when it is closed, and used again', async () => {
    const one = await out();
    await one.close();
    await (await again(one.name)).close();
  });

  test('shows its commit, whatever the one before it was', async () => {
    for (const commit of [first, second, first]) {
      const one = await out(commit);
      expect(await git(one.path, 'rev-parse', 'HEAD')).toBe(commit);
      expect(has(one.path, 'b.txt')).toBe(commit === second);
      expect(await readFile(join(one.path, 'src/a.txt'), 'utf8')).toMatch(commit === second ? /^changed/ : /^one/);
      await one.close();
    }
  });

  test('is not shared: who comes meanwhile gets another one, and both are used again', async () => {
    const held = [await out(), await out()];
    const [one = '', two = ''] = held.map(({ name }) => name);
    expect(one).not.toBe(two);
    for (const each of held) await each.close();
    for (const each of [await again(one), await again(two)]) await each.close();
  });

  test('has nothing of its last use but what is kept', async () => {
    const one = await out();
    await write(one.path, { 'left.txt': 'x', 'ignored/cache/a': 'x', 'ignored/other': 'x', 'a.log': 'x', README: 'x' });
    await writeFile(join(one.path, 'README.md'), 'changed\n');
    await mkdir(join(one.path, 'inner'));
    await git(join(one.path, 'inner'), 'init', '-q');
    expect((await one.changes()).sort()).toEqual(['README', 'README.md', 'inner/', 'left.txt']);
    expect((await one.ignored()).sort()).toEqual(['a.log', 'ignored']);
    one.keep(['ignored/cache']);
    await one.close();
    const two = await again(one.name);
    expect(await git(two.path, 'status', '--porcelain')).toBe('');
    for (const gone of ['left.txt', 'a.log', 'ignored/other', 'README', 'inner'])
      expect(has(two.path, gone)).toBe(false);
    expect(has(two.path, 'ignored/cache/a')).toBe(true);
    two.keep([]);
    await two.close();
    const three = await again(one.name);
    expect(has(three.path, 'ignored')).toBe(false);
    await three.close();
  });

  test('is put back to its commit while it is held', async () => {
    const one = await out();
    await write(one.path, { 'left.txt': 'x', 'src/a.txt': 'changed' });
    await one.reset();
    expect(await one.changes()).toEqual([]);
    expect(await readFile(join(one.path, 'src/a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    await one.close();
  });

  test('gives the tree of what a gate changed in it, without ignored files and repositories, and stays as it is', async () => {
    const one = await out();
    expect(await one.writeTree()).toBe(one.tree);
    await write(one.path, { 'new.txt': 'x', 'a.log': 'x', 'src/a.txt': 'fixed\n' });
    await rm(join(one.path, 'README.md'));
    await mkdir(join(one.path, 'inner'));
    await git(join(one.path, 'inner'), 'init', '-q');
    await write(join(one.path, 'inner'), { 'x.txt': 'x' });
    const tree = await one.writeTree();
    expect(await git(bed.root, 'diff', '--name-status', first, tree)).toBe('D\tREADME.md\nA\tnew.txt\nM\tsrc/a.txt');
    expect((await one.changes()).sort()).toEqual(['README.md', 'inner/', 'new.txt', 'src/a.txt']);
    await one.close();
  });

  test.each([
    ['removed', (folder: string) => rm(folder, { recursive: true })],
    [
      'replaced',
      (folder: string) => rm(folder, { recursive: true }).then(() => writeFile(folder, 'gitdir: /elsewhere\n')),
    ],
    ['emptied', (folder: string) => rm(folder, { recursive: true }).then(() => mkdir(folder))],
  ])('whose git folder was %s is mended at the next use', async (_how, damage) => {
    const one = await out();
    await damage(join(one.path, '.git'));
    await one.close();
    const two = await again(one.name);
    expect(await git(two.path, 'rev-parse', 'HEAD')).toBe(first);
    await two.close();
  });

  test('of a commit that does not exist fails, and the next one works', async () => {
    await expect(out('f'.repeat(40))).rejects.toThrow();
    const one = await out();
    expect(await one.changes()).toEqual([]);
    await one.close();
  });

  test('that could not be tidied is thrown away, and one user of it is told', async () => {
    const one = await out();
    await rm(join(bed.root, '.git', 'worktrees', one.name), { recursive: true });
    await one.close();
    await expect(taken(() => false)).rejects.toThrow('git clean failed');
    expect(await pool()).not.toContain(one.name);
    const two = await out();
    expect(await two.changes()).toEqual([]);
    await two.close();
  });
});

test('checkouts that an earlier process left are removed before the first one of the next', async () => {
  const one = await out();
  await write(one.path, { 'left.txt': 'x' });
  const next = await bed.reopen();
  const two = await next.checkOut(second);
  expect(two.name).toBe('proof-1');
  expect(has(two.path, 'left.txt')).toBe(false);
  expect(await pool()).toEqual(['proof-1']);
  await two.close();
  await next.close();
  expect(await pool()).toEqual([]);
  expect(await git(bed.root, 'worktree', 'list')).not.toContain('proofs');
});
