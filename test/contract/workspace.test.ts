import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 12, branch: 'task/12-say-hi' };
let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

describe('the workspace of a task that lands', () => {
  it('opens, captures, merges on paper, seals, checks out, lands and removes', async () => {
    const { workspace, root } = bed;
    const before = await git(root, 'rev-parse', 'main');
    const tree = await workspace.open(task);
    expect(tree).toMatchObject({ ...task, base: before });
    expect(await git(tree.path, 'branch', '--show-current')).toBe(task.branch);
    await write(tree.path, { 'hi.txt': 'hi\n', 'ignored/x': 'x', 'src/a.txt': 'one\ntwo\n3\n' });
    const captured = await workspace.capture(task, 'Say hi\n\nTask: #12');
    expect(captured.files.sort()).toEqual(['hi.txt', 'src/a.txt']);
    expect(captured.notes).toEqual([]);
    expect(await git(tree.path, 'status', '--porcelain')).toBe('');
    const candidate = await workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    expect(candidate).toMatchObject({ base: before, tree: captured.tree });
    const commit = await workspace.seal(task, candidate, 'Say hi\n\nTask: #12\n');
    const checkout = await workspace.checkOut(commit);
    expect(await git(checkout.path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(await git(checkout.path, 'status', '--porcelain', '--ignored')).toBe('');
    await checkout.close();
    expect(await workspace.isLanded(commit)).toBe(false);
    expect(await workspace.land(commit, before)).toEqual({ kind: 'landed' });
    expect(await workspace.isLanded(commit)).toBe(true);
    expect(await git(root, 'rev-parse', 'main')).toBe(commit);
    expect(await readFile(join(root, 'hi.txt'), 'utf8')).toBe('hi\n');
    expect(await git(root, 'status', '--porcelain')).toBe('');
    await workspace.remove(task);
    expect(await workspace.leaks([])).toEqual([]);
    expect(await git(root, 'branch', '--list')).toBe('* main');
    expect(await workspace.snapshots()).toMatchObject([{ number: 12, commit: captured.commit }]);
  });
});
