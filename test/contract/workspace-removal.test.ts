import { existsSync } from 'node:fs';
import { chmod, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deletesBehind, killsOnTheWay } from './removal-suite.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 5, branch: 'task/5-gone' };
let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

describe('the removal of a worktree', () => {
  it('keeps what did not land, in files and in commits', async () => {
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'committed.txt': 'c\n' });
    const { commit } = await bed.workspace.capture(task, 'c\n');
    await write(tree.path, { 'uncommitted.txt': 'u\n' });
    await bed.workspace.remove(task);
    expect(existsSync(tree.path)).toBe(false);
    const kept = await bed.workspace.snapshots();
    expect(kept.map((each) => each.why).sort()).toEqual([
      "the branch's commits, kept when its worktree was removed",
      'the task was removed',
    ]);
    expect(kept.map((each) => each.commit)).toContain(commit);
    const files = kept.find((each) => each.commit !== commit)!;
    expect(await git(bed.root, 'show', `${files.commit}:uncommitted.txt`)).toBe('u');
  });

  it('leaves nothing behind for a task without work, and can be repeated', async () => {
    await bed.workspace.open(task);
    await bed.workspace.remove(task);
    await bed.workspace.remove(task);
    expect(await bed.workspace.snapshots()).toEqual([]);
    expect(await git(bed.root, 'worktree', 'list', '--porcelain')).not.toContain('5-gone');
    expect(await git(bed.root, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await readdir(join(bed.dataDir, 'index'))).toEqual([]);
    expect(await bed.workspace.open(task)).toMatchObject(task);
  });

  deletesBehind(() => bed, 2_000);

  it('gets over the lock that a killed git of its own left, and not over a lock of somebody else', async () => {
    const [lock, note] = [join(bed.root, '.git/packed-refs.lock'), join(bed.dataDir, 'deleting-refs')];
    await bed.workspace.open(task);
    await writeFile(note, '');
    await writeFile(lock, '');
    await bed.workspace.remove(task);
    expect([existsSync(lock), existsSync(note)]).toEqual([false, false]);
    await bed.workspace.open(task);
    await writeFile(lock, '');
    await expect(bed.workspace.remove(task)).rejects.toThrow(/packed-refs\.lock': File exists/);
    expect([existsSync(lock), existsSync(note)]).toEqual([true, false]);
  });

  it('gets over the lock that stays when the repository is moved away during a deletion', async () => {
    await bed.workspace.open(task);
    const [elsewhere, programs] = [`${bed.root} elsewhere`, join(bed.dataDir, 'programs')];
    const path = process.env.PATH;
    const git = `#!/bin/sh
case "$*" in *"update-ref --stdin"*)
  touch "${bed.root}/.git/packed-refs.lock"; mv "${bed.root}" "${elsewhere}"; echo moved >&2; exit 128;;
esac
PATH="${path}" exec git "$@"
`;
    await write(programs, { git });
    await chmod(join(programs, 'git'), 0o755);
    process.env.PATH = `${programs}:${path}`;
    await expect(bed.workspace.remove(task)).rejects.toThrow('moved');
    process.env.PATH = path;
    await rename(elsewhere, bed.root);
    await bed.workspace.remove(task);
    expect(existsSync(join(bed.root, '.git/packed-refs.lock'))).toBe(false);
  });

  it('empties at the start what an earlier process left in the trash', async () => {
    await write(join(bed.dataDir, 'trash/old'), { 'a/b': 'x' });
    const next = await bed.reopen();
    await next.close();
    expect(await readdir(join(bed.dataDir, 'trash'))).toEqual([]);
  });
});

describe('leaked worktrees', () => {
  it('are found and collected, with their work kept; living tasks and persons are left alone', async () => {
    const living = { number: 6, branch: 'task/6-alive' };
    const [tree, alive] = [await bed.workspace.open(task), await bed.workspace.open(living)];
    await write(tree.path, { 'leaked.txt': 'l\n' });
    await write(alive.path, { 'alive.txt': 'a\n' });
    await git(bed.root, 'branch', 'task/9-my-own');
    await git(bed.root, 'worktree', 'add', '-q', join(bed.folder, 'person'), '-b', 'task/10-mine-too');
    await write(join(bed.dataDir, 'worktrees/77-stray'), { 'stray.txt': 's\n' });
    const next = await bed.reopen();
    const leaks = (await next.leaks([living])).join('\n');
    expect(leaks).toContain(`worktree ${tree.path}`);
    expect(leaks).toContain('branch task/5-gone');
    expect(leaks).toContain('77-stray');
    expect(leaks).not.toMatch(/6-alive|9-my-own|10-mine/);
    expect((await next.collectGarbage([living])).join('\n')).toBe(leaks);
    expect(await next.leaks([living])).toEqual([]);
    expect(await git(bed.root, 'branch', '--format=%(refname:short)')).toBe(
      'main\ntask/10-mine-too\ntask/6-alive\ntask/9-my-own',
    );
    const kept = await next.snapshots();
    const files = await Promise.all(kept.map(({ commit }) => git(bed.root, 'ls-tree', '-r', '--name-only', commit)));
    expect(files.join('\n')).toContain('leaked.txt');
    expect(files.join('\n')).toContain('stray.txt');
    expect((await next.capture(living, 'a\n')).files).toEqual(['alive.txt']);
  });

  it('are found after each step at which a removal may have been cut short', async () => {
    const tree = await bed.workspace.open(task);
    await rm(tree.path, { recursive: true });
    expect(await bed.workspace.leaks([])).toHaveLength(2);
    await git(bed.root, 'update-ref', '-d', `refs/heads/${task.branch}`);
    await git(bed.root, 'update-ref', '-d', `refs/tidemill/heads/${task.branch}`);
    expect(await bed.workspace.leaks([])).toEqual([`registration ${join(bed.root, '.git/worktrees/5-gone')}`]);
    await bed.workspace.collectGarbage([]);
    expect(await bed.workspace.leaks([])).toEqual([]);
    expect(existsSync(join(bed.root, '.git/worktrees/5-gone'))).toBe(false);
  });

  it('do not include another data folder’s worktrees', async () => {
    const other = await bed.reopen({ dataDir: join(bed.folder, 'other data') });
    await other.open(task);
    expect(await bed.workspace.leaks([])).toEqual([]);
    expect(await bed.workspace.collectGarbage([])).toEqual([]);
    expect((await other.capture(task, 'x\n')).files).toEqual([]);
  });

  it('do not include another data folder’s branches, with or without a worktree', async () => {
    const other = await bed.reopen({ dataDir: join(bed.folder, 'other data') });
    const theirs = await other.open(task);
    await write(theirs.path, { 'x.txt': 'x\n' });
    const { commit } = await other.capture(task, 'x\n');
    await rm(theirs.path, { recursive: true });
    expect(await bed.workspace.collectGarbage([])).toEqual([]);
    // The same name here: neither goes on with the other's commits, and giving up deletes nothing.
    await expect(bed.workspace.open(task)).rejects.toMatchObject({ code: 'conflict' });
    await bed.workspace.remove(task);
    expect(await bed.workspace.collectGarbage([])).toEqual([]);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
    expect((await other.capture(task, 'x\n')).files).toEqual(['x.txt']);
    await other.remove(task);
    expect((await bed.workspace.open(task)).base).toBe(await git(bed.root, 'rev-parse', 'main'));
  });
});

describe('a task whose branch is gone', () => {
  const forget = async () => {
    for (const ref of [`refs/heads/${task.branch}`, `refs/tidemill/heads/${task.branch}`])
      await git(bed.root, 'update-ref', '-d', ref);
  };

  it.each(['with its worktree', 'without it', 'without its registration'])('goes on, %s', async (how) => {
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'x.txt': 'x\n' });
    const { commit } = await bed.workspace.capture(task, 'x\n');
    await forget();
    if (how === 'without it') await rm(tree.path, { recursive: true });
    if (how === 'without its registration')
      await rm(join(bed.root, '.git/worktrees', tree.path.split('/').at(-1)!), { recursive: true });
    expect(await bed.workspace.candidate(task)).toMatchObject({ kind: 'clean', files: ['x.txt'] });
    const again = await (await bed.reopen()).open(task);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
    expect(existsSync(join(again.path, 'x.txt'))).toBe(true);
    expect(await bed.workspace.capture(task, 'again\n')).toMatchObject({ commit, files: ['x.txt'] });
  });

  it('goes on from its snapshot when git has collected the commit', async () => {
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'x.txt': 'x\n' });
    const { commit } = await bed.workspace.capture(task, 'x\n');
    await write(tree.path, { 'y.txt': 'y\n' });
    await bed.workspace.snapshot(task, 'a look');
    await forget();
    await rm(tree.path, { recursive: true });
    await writeFile(join(bed.dataDir, 'index', `${tree.path.split('/').at(-1)}.tip`), '1'.repeat(40));
    await bed.workspace.open(task);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
  });

  it('does not go on from the snapshot of another branch with its number', async () => {
    const other = { ...task, branch: 'task/5-other' };
    const theirs = await bed.workspace.open(other);
    await write(theirs.path, { 'y.txt': 'y\n' });
    await bed.workspace.capture(other, 'y\n');
    await write(theirs.path, { 'z.txt': 'z\n' });
    await bed.workspace.snapshot(other, 'a look');
    const tree = await bed.workspace.open(task);
    await forget();
    await rm(tree.path, { recursive: true });
    await writeFile(join(bed.dataDir, 'index', `${tree.path.split('/').at(-1)}.tip`), '1'.repeat(40));
    await bed.workspace.open(task);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(await git(bed.root, 'rev-parse', 'main'));
  });

  it('whose record of the last commit is missing is still its own while the index is there', async () => {
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'x.txt': 'x\n' });
    const { commit } = await bed.workspace.capture(task, 'x\n');
    await rm(join(bed.dataDir, 'index', `${tree.path.split('/').at(-1)}.tip`));
    await rm(tree.path, { recursive: true });
    await (await bed.reopen()).open(task);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
  });
});

describe('a killed process', () => {
  killsOnTheWay(() => bed, [120, 300]);
});
