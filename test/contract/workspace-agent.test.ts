import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Worktree } from '../../packages/daemon/src/ports.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 7, branch: 'task/7-a-b' };
let bed: Bed;
let tree: Worktree;
beforeEach(async () => {
  bed = await makeBed();
  tree = await bed.workspace.open(task);
});
afterEach(() => bed.remove());

const capture = () => bed.workspace.capture(task, 'Work\n');
const fileAt = (commit: string, path: string) => git(bed.root, 'show', `${commit}:${path}`);
const admin = () => join(bed.root, '.git/worktrees/7-a-b');
const old = new Date(Date.now() - 60_000);

/** What must be true after every capture. */
async function expectSettled(commit: string) {
  expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
  expect(await git(tree.path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${task.branch}`);
  expect(await git(tree.path, 'status', '--porcelain')).toBe('');
}

describe('the work of an agent is captured when it', () => {
  it('changes nothing: no commit, no files', async () => {
    const captured = await capture();
    expect(captured).toMatchObject({ commit: tree.base, files: [], notes: [] });
    expect(await bed.workspace.candidate(task)).toEqual({ kind: 'empty', base: tree.base });
    expect(await bed.workspace.diff(task, 1000)).toEqual({ files: [], sections: [], isCut: false });
  });

  it('commits by itself: its files are taken, its commits kept', async () => {
    await write(tree.path, { 'new.txt': 'new\n' });
    await git(tree.path, 'add', '-A');
    await git(tree.path, 'commit', '-q', '-m', 'mine');
    const own = await git(tree.path, 'rev-parse', 'HEAD');
    await write(tree.path, { 'more.txt': 'more\n' });
    const captured = await capture();
    expect(captured.files).toEqual(['more.txt', 'new.txt']);
    expect(captured.notes.join()).toMatch(/committed or switched branches.*refs\/tidemill\/snapshots\/7\//);
    expect(await git(bed.root, 'rev-parse', `${captured.commit}^`)).toBe(tree.base);
    const [kept] = await bed.workspace.snapshots();
    expect(await git(bed.root, 'merge-base', '--is-ancestor', own, kept!.commit)).toBe('');
    await expectSettled(captured.commit);
  });

  it('commits and resets back: the commit is kept', async () => {
    await write(tree.path, { 'first.txt': '1\n' });
    const first = await capture();
    await git(tree.path, 'reset', '-q', '--hard', 'HEAD~1');
    await write(tree.path, { 'second.txt': '2\n' });
    const second = await capture();
    expect(await git(bed.root, 'rev-parse', `${second.commit}^`)).toBe(first.commit);
    expect(second.files).toEqual(['second.txt']);
    await expectSettled(second.commit);
  });

  it('checks out another branch, or detaches HEAD', async () => {
    await git(tree.path, 'checkout', '-q', '-b', 'elsewhere');
    await write(tree.path, { 'x.txt': 'x\n' });
    const first = await capture();
    expect(first.files).toEqual(['x.txt']);
    expect(first.notes.join()).toMatch(/HEAD was not on the branch/);
    await expectSettled(first.commit);
    await git(tree.path, 'checkout', '-q', '--detach');
    await write(tree.path, { 'y.txt': 'y\n' });
    await expectSettled((await capture()).commit);
  });

  it('deletes the branch', async () => {
    await git(tree.path, 'checkout', '-q', '--detach');
    await git(tree.path, 'branch', '-D', task.branch);
    await write(tree.path, { 'x.txt': 'x\n' });
    await expectSettled((await capture()).commit);
  });

  it('leaves a rebase and a cherry-pick half done', async () => {
    await write(tree.path, { 'README.md': 'theirs\n' });
    await capture();
    await write(bed.root, { 'README.md': 'ours\n' });
    await git(bed.root, 'commit', '-q', '-am', 'ours');
    await expect(git(tree.path, 'rebase', 'main')).rejects.toThrow();
    await write(tree.path, { 'README.md': 'both\n' });
    const captured = await capture();
    expect(await fileAt(captured.commit, 'README.md')).toBe('both');
    await expectSettled(captured.commit);
    expect(existsSync(join(admin(), 'rebase-merge'))).toBe(false);
  });

  it('hides changes with assume-unchanged and skip-worktree', async () => {
    await git(tree.path, 'update-index', '--assume-unchanged', 'README.md');
    await git(tree.path, 'update-index', '--skip-worktree', 'src/a.txt');
    await write(tree.path, { 'README.md': 'hidden\n', 'src/a.txt': 'hidden, too\n' });
    expect((await capture()).files).toEqual(['README.md', 'src/a.txt']);
  });

  it('adds an ignored file by force, and stops tracking another', async () => {
    await write(tree.path, { 'kept.log': 'kept\n', 'other.log': 'not\n', '.gitignore': 'README.md\n*.log\n' });
    await git(tree.path, 'add', '-f', 'kept.log');
    await git(tree.path, 'rm', '-q', '--cached', 'README.md');
    const captured = await capture();
    expect(captured.files.sort()).toEqual(['.gitignore', 'README.md', 'kept.log']);
    await expect(fileAt(captured.commit, 'README.md')).rejects.toThrow();
    expect(await readFile(join(tree.path, 'README.md'), 'utf8')).toBe('hello\n');
  });

  it('leaves a stale index.lock, a broken index and a planted hook', async () => {
    await writeFile(join(admin(), 'index.lock'), '');
    await utimes(join(admin(), 'index.lock'), old, old);
    await writeFile(join(admin(), 'index'), 'garbage');
    await write(join(bed.root, '.git/hooks'), { 'post-checkout': '#!/bin/sh\ntouch "$0.ran"\n' });
    await git(bed.root, 'config', 'core.fsmonitor', `touch ${bed.folder}/fsmonitor-ran`);
    await write(tree.path, { 'x.txt': 'x\n' });
    const captured = await capture();
    expect(captured.files).toEqual(['x.txt']);
    expect(captured.notes).toContain('a stale index.lock was removed');
    await git(bed.root, 'config', '--unset', 'core.fsmonitor');
    await expectSettled(captured.commit);
    expect(existsSync(join(bed.folder, 'fsmonitor-ran'))).toBe(false);
  });

  it('sets another user name: commits keep the identity of the start', async () => {
    await git(tree.path, 'config', 'user.name', 'Mallory');
    await write(tree.path, { 'x.txt': 'x\n' });
    const { commit } = await capture();
    expect(await git(bed.root, 'log', '-1', '--format=%an <%ae>', commit)).toBe('Tidemill <tidemill@localhost>');
  });
});

describe('the work of an agent survives when it', () => {
  it('deletes all of its worktree: the last commit comes back, with a note', async () => {
    await write(tree.path, { 'x.txt': 'x\n' });
    const first = await capture();
    await rm(tree.path, { recursive: true });
    const again = await capture();
    expect(again).toMatchObject({ commit: first.commit, files: ['x.txt'] });
    expect(again.notes.join()).toMatch(/deleted/);
    expect(await readFile(join(tree.path, 'x.txt'), 'utf8')).toBe('x\n');
    await rm(tree.path, { recursive: true });
    await git(bed.root, 'worktree', 'prune');
    expect((await bed.workspace.open(task)).path).toBe(tree.path);
    await expectSettled(first.commit);
  });

  it('empties the folder, or puts a link in its place', async () => {
    await rm(tree.path, { recursive: true });
    await mkdir(tree.path);
    expect((await capture()).files).toEqual([]);
    await rm(tree.path, { recursive: true });
    await symlink(bed.root, tree.path);
    expect((await capture()).files).toEqual([]);
    expect(existsSync(join(bed.root, 'README.md'))).toBe(true);
    await expectSettled(tree.base);
  });

  it('deletes files', async () => {
    await rm(join(tree.path, 'src'), { recursive: true });
    const captured = await capture();
    expect(captured.files).toEqual(['src/a.txt']);
    await expectSettled(captured.commit);
  });

  it('deletes or rewrites the .git file', async () => {
    await write(tree.path, { 'x.txt': 'x\n' });
    await rm(join(tree.path, '.git'));
    const first = await capture();
    expect(first.notes.join()).toMatch(/\.git file/);
    await expectSettled(first.commit);
    await writeFile(join(tree.path, '.git'), `gitdir: ${bed.root}/.git\n`);
    await write(tree.path, { 'y.txt': 'y\n' });
    const second = await capture();
    expect(second.files).toEqual(['x.txt', 'y.txt']);
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    await expectSettled(second.commit);
  });

  it('makes git forget the worktree', async () => {
    await write(tree.path, { 'x.txt': 'x\n' });
    await rm(admin(), { recursive: true });
    const captured = await capture();
    expect(captured.files).toEqual(['x.txt']);
    expect(captured.notes.join()).toMatch(/registered again/);
    await expectSettled(captured.commit);
  });

  it('makes a repository of its own over the worktree', async () => {
    await rm(join(tree.path, '.git'));
    await git(tree.path, 'init', '-q');
    await write(tree.path, { 'x.txt': 'x\n' });
    await git(tree.path, 'add', '-A');
    await git(tree.path, 'commit', '-q', '-m', 'my own history');
    const own = await git(tree.path, 'rev-parse', 'HEAD');
    const captured = await capture();
    expect(captured.files).toEqual(['x.txt']);
    const aside = /it is saved at (\S+) until/.exec(captured.notes.join())?.[1] ?? '';
    expect(await git(aside, 'rev-parse', 'HEAD')).toBe(own);
    await expectSettled(captured.commit);
    await bed.workspace.remove(task);
    expect(existsSync(aside)).toBe(false);
  });

  it('makes repositories inside: their files are plain files', async () => {
    for (const name of ['with commit', 'without']) {
      await write(join(tree.path, name), { 'inner.txt': `${name}\n`, 'debug.log': 'ignored\n' });
      await git(join(tree.path, name), 'init', '-q');
    }
    await git(join(tree.path, 'with commit'), 'add', '-A');
    await git(join(tree.path, 'with commit'), 'commit', '-q', '-m', 'inner');
    expect(await bed.workspace.snapshot(task, 'a look')).toMatch(/^refs\/tidemill\/snapshots\/7\//);
    const captured = await capture();
    expect(captured.files).toEqual(['with commit/inner.txt', 'without/inner.txt']);
    expect(captured.notes.join()).toMatch(/separate git repository/);
    await appendFile(join(tree.path, 'without/inner.txt'), 'more\n');
    expect(await fileAt((await capture()).commit, 'without/inner.txt')).toBe('without\nmore');
  });

  it('uses names with spaces, unicode, newlines and leading dashes', async () => {
    const names = ['-rf', '--force', 'a b', 'ü/ß☂.txt', 'line\nbreak', ':(top)x', '"quoted"', '*'].sort();
    await write(tree.path, Object.fromEntries(names.map((name) => [name, name])));
    const captured = await capture();
    expect(captured.files.sort()).toEqual(names);
    await rm(join(tree.path, '-rf'));
    await bed.workspace.restore(task, 'put back');
    expect(await readFile(join(tree.path, '-rf'), 'utf8')).toBe('-rf');
  });

  it('moves its folder: the moved one is found as a leak, and saved', async () => {
    await write(tree.path, { 'x.txt': 'x\n' });
    await rename(tree.path, `${tree.path}-moved`);
    await bed.workspace.open(task);
    expect(await bed.workspace.leaks([task])).toEqual([`worktree ${tree.path}-moved`]);
    await bed.workspace.collectGarbage([task]);
    const [kept] = await bed.workspace.snapshots();
    expect(await fileAt(kept!.commit, 'x.txt')).toBe('x');
    expect(await bed.workspace.leaks([task])).toEqual([]);
    expect(existsSync(tree.path)).toBe(true);
  });
});
