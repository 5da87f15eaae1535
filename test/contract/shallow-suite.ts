import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { inspectRepository } from '../../packages/daemon/src/git/repository.ts';
import type { GitWorkspace, WorkspaceOptions } from '../../packages/daemon/src/workspace/workspace.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
afterEach(() => bed.remove());

/** A clone of the last commit of a longer history, whose remote is bare. */
async function shallow(): Promise<{ root: string; remote: string }> {
  bed = await makeBed();
  for (const text of ['two', 'three', 'four']) {
    await write(bed.root, { 'README.md': `${text}\n` });
    await git(bed.root, 'commit', '-q', '-am', text);
  }
  const remote = join(bed.folder, 'remote.git');
  const root = join(bed.folder, 'shallow');
  await git(bed.folder, 'clone', '-q', '--bare', bed.root, remote);
  await git(bed.folder, 'clone', '-q', '--depth', '1', `file://${remote}`, root);
  expect(await git(root, 'rev-list', '--count', 'HEAD')).toBe('1');
  return { root, remote };
}

async function land(workspace: GitWorkspace, number: number, files: Record<string, string>[]): Promise<string> {
  const task = { number, branch: `task/${number}-t` };
  for (const some of files) {
    await write((await workspace.open(task)).path, some);
    await workspace.capture(task, 'work\n');
  }
  const candidate = await workspace.candidate(task);
  if (candidate.kind !== 'clean') throw new Error(candidate.kind);
  const commit = await workspace.seal(task, candidate, `Land ${number}\n`);
  const proof = await workspace.checkOut(commit);
  expect(await proof.changes()).toEqual([]);
  await proof.close();
  expect(await workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
  await workspace.remove(task);
  return commit;
}

/** Work lands and is pushed, whatever the landing. */
export function worksInShallowClones(landings: WorkspaceOptions['landing'][]): void {
  it.each(landings)('a shallow clone works: %s, next to other work, and pushed', async (landing) => {
    const { root, remote } = await shallow();
    expect(await inspectRepository(root)).toMatchObject({ isShallow: true });
    const workspace = await bed.reopen({ root, dataDir: join(bed.folder, 'shallow-data'), landing });
    // Two commits, and a target that moves meanwhile: a merge base is needed.
    const task = { number: 1, branch: 'task/1-t' };
    await write((await workspace.open(task)).path, { 'one.txt': '1\n' });
    await workspace.capture(task, 'one\n');
    await land(workspace, 2, [{ 'two.txt': '2\n' }]);
    await land(workspace, 1, [{ 'more.txt': 'more\n' }]);
    expect(await git(root, 'status', '--porcelain')).toBe('');
    expect(await workspace.fetchTarget()).toMatchObject({ kind: 'ahead' });
    const push = async () => workspace.pushTarget(await workspace.targetCommit());
    expect(await push()).toMatchObject({ kind: 'pushed' });
    expect(await git(remote, 'rev-parse', 'main')).toBe(await git(root, 'rev-parse', 'main'));

    // Somebody with the whole history pushes while the next task lands.
    await git(bed.root, 'pull', '-q', remote, 'main');
    await write(bed.root, { 'theirs.txt': 'theirs\n' });
    await git(bed.root, 'add', '-A');
    await git(bed.root, 'commit', '-q', '-m', 'Theirs');
    await git(bed.root, 'push', '-q', remote, 'main');
    await land(workspace, 3, [{ 'three.txt': '3\n' }]);
    expect(await push()).toMatchObject({ kind: 'moved' });
    const state = await workspace.fetchTarget();
    if (state.kind !== 'diverged') throw new Error(state.kind);
    const joined = await workspace.joinRemote(state);
    if (joined.kind !== 'clean') throw new Error(joined.kind);
    expect(await workspace.land(joined.commit, joined.base)).toEqual({ kind: 'landed' });
    expect(await push()).toMatchObject({ kind: 'pushed' });
    expect(await git(remote, 'rev-parse', 'main')).toBe(await git(root, 'rev-parse', 'main'));
    expect(await workspace.isLanded(await git(root, 'rev-parse', 'main'))).toBe(true);
    expect(await workspace.leaks([])).toEqual([]);
  });
}
