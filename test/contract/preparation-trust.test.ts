import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVIL, GOOD, makePreparedBed, type PreparedBed, READY, signal } from './prepared-bed.ts';
import { git } from './workspace-bed.ts';

/** Whose files the result of `prepare` is made from, and which trees it serves. */
let on: PreparedBed;
beforeEach(async () => {
  on = await makePreparedBed();
});
afterEach(() => on.bed.remove());

describe('a layer made from work that has not landed', () => {
  it('does not serve a later tree of the same task', async () => {
    const prepare = on.preparation();
    const worktree = await on.open(1);
    const bad = await on.handIn(worktree, { lock: 'two\n', 'install.sh': EVIL });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    const reverted = await on.handIn(worktree, { lock: 'two\n', 'install.sh': GOOD });
    expect(await on.proven(prepare, reverted.tip, reverted)).toBe('two\n');
    // The same tree of the same task is not prepared again.
    expect(await on.proven(prepare, reverted.tip, reverted)).toBe('two\n');
    expect(on.timesRun()).toBe(1);
  });

  it('does not serve another task, and is removed when its task is cancelled', async () => {
    const prepare = on.preparation();
    const bad = await on.handIn(await on.open(1), { lock: 'two\n', 'install.sh': EVIL });
    await prepare.worktree(bad, { signal });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    expect(on.kept()).toHaveLength(1);
    await prepare.tidy((task) => task !== 1);
    expect(on.kept()).toEqual([]);
    const good = await on.handIn(await on.open(2), { lock: 'two\n' });
    expect(await on.proven(prepare, good.tip, good)).toBe('two\n');
    // Not even if both handed in the same tree.
    const copied = await on.handIn(await on.open(3), { lock: 'two\n' });
    expect(await on.bed.workspace.treeOf(copied.tip)).toBe(await on.bed.workspace.treeOf(good.tip));
    expect(await on.proven(prepare, copied.tip, copied)).toBe('two\n');
    expect(on.timesRun()).toBe(2);
  });

  it('does not serve the target after a person committed the same lock file', async () => {
    const prepare = on.preparation();
    const bad = await on.handIn(await on.open(1), { lock: 'two\n', 'install.sh': EVIL });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    const landed = await on.commit({ lock: 'two\n' });
    expect(await on.proven(prepare, landed)).toBe('two\n');
    expect(await on.foundBy(prepare, 2)).toBe('two\n');
    expect(on.timesRun()).toBe(1);
  });
});

describe('a layer made from a landed tree', () => {
  it('is not used for work that changes the script which makes it', async () => {
    const prepare = on.preparation();
    expect(await on.foundBy(prepare, 1)).toBe('one\n');
    const work = await on.handIn(await on.open(2), { 'install.sh': 'mkdir -p deps; echo new > deps/lib\n' });
    expect(await on.proven(prepare, work.tip, work)).toBe('new\n');
    const package1 = { 'package.json': '{"scripts":{"postinstall":"sh tools/more.sh"}}', 'tools/more.sh': 'true\n' };
    const before = await on.commit(package1);
    expect(await on.proven(prepare, before)).toBe('one\n');
    const runsBefore = on.timesRun();
    const hidden = await on.handIn(await on.open(3), { 'tools/more.sh': 'false\n' });
    await on.proven(prepare, hidden.tip, hidden);
    expect(on.timesRun()).toBe(runsBefore + 1);
  });

  it('is not used for work that changes any other file which the steps read, and is made again when that lands', async () => {
    const more =
      'mkdir -p deps; cat lock > deps/lib; while read -r f; do cat "$f" >> deps/lib; done < lists/all; echo >> "$RUNS"\n';
    await on.commit({ 'install.sh': more, 'lists/all': 'data/a\n', 'data/a': 'a\n', 'data/b': 'b\n' });
    const prepare = on.preparation();
    expect(await on.foundBy(prepare, 1)).toBe('one\na\n');
    const work = await on.handIn(await on.open(2), { 'data/a': 'other\n' });
    expect(await on.proven(prepare, work.tip, work)).toBe('one\nother\n');
    const runs = on.timesRun();
    // A file that they do not read makes no difference, also for the next daemon.
    const next = on.preparation();
    const unread = await on.handIn(await on.open(3), { 'data/b': 'other\n' });
    expect(await on.proven(next, unread.tip, unread)).toBe('one\na\n');
    expect(on.timesRun()).toBe(runs);
    const landed = await on.commit({ 'data/a': 'landed\n' });
    expect(await on.proven(next, landed)).toBe('one\nlanded\n');
  });

  it('is not written through a link that a change put in its way', async () => {
    await on.commit({ '.gitignore': 'deps/\npackages/a/deps/\n', 'install.sh': `${GOOD}cp -r deps packages/a/\n` });
    const prepare = on.preparation();
    const outside = join(on.bed.folder, 'outside');
    mkdirSync(join(outside, 'deps'), { recursive: true });
    writeFileSync(join(outside, 'deps/mine'), 'mine\n');
    const worktree = await on.open(1);
    await git(worktree.path, 'rm', '-rq', 'packages/a');
    mkdirSync(join(worktree.path, 'packages'), { recursive: true });
    symlinkSync(outside, join(worktree.path, 'packages/a'));
    const work = await on.handIn(worktree, {});
    expect(await on.proven(prepare, work.tip, work)).toBe('one\n');
    expect(await prepare.worktree(work, { signal })).toEqual(READY);
    expect(readdirSync(outside)).toEqual(['deps']);
    expect(readdirSync(join(outside, 'deps'))).toEqual(['mine']);
  });
});

describe('the download cache', () => {
  // An environment of Python belongs to its place, so it is made in each folder.
  const BOUND = `${GOOD}touch deps/pyvenv.cfg; cat build.txt > "$PIP_CACHE_DIR.entry"\n`;

  it('is written by landed code only, also where dependencies are made in the folder of the work', async () => {
    await on.commit({ 'install.sh': BOUND, 'build.txt': 'good\n' });
    const prepare = on.preparation();
    const work = await on.handIn(await on.open(1), { 'build.txt': 'evil\n' });
    expect(await on.proven(prepare, work.tip, work)).toBe('one\n');
    expect(await prepare.worktree(work, { signal })).toEqual(READY);
    expect(readFileSync(join(on.cacheDir, 'pip.entry'), 'utf8')).toBe('good\n');
    // Work that changes what is installed gets the downloads, and cannot change them.
    const other = await on.handIn(await on.open(2), {
      lock: 'two\n',
      'install.sh': `${BOUND}cp "$PIP_CACHE_DIR.entry" deps/lib\n`,
      'build.txt': 'evil\n',
    });
    await on.proven(prepare, other.tip, other);
    expect(readFileSync(join(on.cacheDir, 'pip.entry'), 'utf8')).toBe('good\n');
  });
});
