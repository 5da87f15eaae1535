import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
let base: string;
beforeEach(async () => {
  bed = await makeBed();
  base = await git(bed.root, 'rev-parse', 'HEAD');
  await write(bed.root, { 'src/answer.txt': 'the answer\n', 'src/a.test.txt': 'a test\n' });
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'The answer');
});
afterEach(() => bed.remove());

test('a bench shows the repository as it was: what came later is in no branch and no history', async () => {
  const bench = await bed.workspace.borrowingRepository('job_1', base);
  expect(existsSync(join(bench.path, 'src/a.txt'))).toBe(true);
  expect(existsSync(join(bench.path, 'src/answer.txt'))).toBe(false);
  expect(await git(bench.path, 'log', '--all', '--format=%s')).toBe('Start');
  expect(await git(bench.path, 'branch', '-a')).toBe('* main');
  expect(await git(bench.path, 'status', '--porcelain')).toBe('');
  await bench.remove();
  expect(existsSync(bench.path)).toBe(false);
});

test('the files of a bench become a commit on the base, whatever was done to its git, and no ref changes', async () => {
  const refs = await git(bed.root, 'for-each-ref');
  const bench = await bed.workspace.borrowingRepository('job_1', base);
  await write(bench.path, { 'src/b.txt': 'new\n', 'ignored/x.txt': 'x\n', 'inner/c.txt': 'c\n' });
  await git(join(bench.path, 'inner'), 'init', '-q');
  await git(bench.path, 'switch', '-q', '-c', 'other');
  await git(bench.path, 'add', 'src/b.txt');
  await git(bench.path, 'commit', '-q', '-m', 'Mine');
  await rm(join(bench.path, 'README.md'));
  await git(bench.path, 'config', 'core.worktree', '/nowhere');
  await writeFile(join(bench.path, '.git/index.lock'), '');
  const work = await bench.capture('Again');
  expect(work.files.sort()).toEqual(['README.md', 'inner/c.txt', 'src/b.txt']);
  expect(await git(bed.root, 'rev-parse', `${work.commit}^`)).toBe(base);
  expect(await git(bed.root, 'rev-parse', `${work.commit}^{tree}`)).toBe(work.tree);
  expect(await git(bed.root, 'for-each-ref')).toBe(refs);
  expect(await git(bed.root, 'status', '--porcelain')).toBe('');
  const checkout = await bed.workspace.checkOut(work.commit);
  expect(existsSync(join(checkout.path, 'src/b.txt'))).toBe(true);
  await checkout.close();
  expect((await bench.capture('Again')).tree).toBe(work.tree);
});

test('a bench without a change has no files, and a bench at a commit that is gone is refused', async () => {
  const bench = await bed.workspace.borrowingRepository('job_1', base);
  expect(await bench.capture('Nothing')).toMatchObject({ files: [], refused: [] });
  await expect(bed.workspace.borrowingRepository('job_2', 'f'.repeat(40))).rejects.toThrow(
    /no longer in the repository/,
  );
});

test('a bench puts files of another commit into a tree, and finds the parent of a commit', async () => {
  const bench = await bed.workspace.borrowingRepository('job_1', base);
  await write(bench.path, { 'src/b.txt': 'new\n', 'src/a.test.txt': 'their own test\n' });
  const work = await bench.capture('Mine');
  const landed = await git(bed.root, 'rev-parse', 'main');
  const mixed = await bed.workspace.withFilesOf(work.commit, landed, ['src/a.test.txt']);
  expect(await git(bed.root, 'show', `${mixed.commit}:src/a.test.txt`)).toBe('a test');
  expect(await git(bed.root, 'show', `${mixed.commit}:src/b.txt`)).toBe('new');
  expect(await bed.workspace.parentOf(landed)).toBe(base);
  expect(await bed.workspace.parentOf(base)).toBeNull();
  expect(await bed.workspace.commitOf(mixed.tree, base)).toMatch(/^[0-9a-f]{40}$/);
});

test('leftovers of a bench after a crash are removed at the next start', async () => {
  const { path } = await bed.workspace.borrowingRepository('job_1', base);
  const next = await bed.reopen();
  await next.collectGarbage([]);
  expect(existsSync(path)).toBe(false);
});
