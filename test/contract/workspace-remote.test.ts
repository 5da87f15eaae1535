import { access, chmod } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Candidate, Workspace } from '../../packages/daemon/src/ports.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
let remote: string;
let other: string;
beforeEach(async () => {
  bed = await makeBed();
  remote = join(bed.folder, 'remote.git');
  other = join(bed.folder, 'other');
  await git(bed.folder, 'init', '-q', '--bare', '-b', 'main', remote);
});
afterEach(() => bed.remove());

const task = { number: 1, branch: 'task/1-tide' };
const head = (folder: string, name = 'main') => git(folder, 'rev-parse', name);

/** The repository has a remote, and another person has a clone of it. */
async function share(): Promise<void> {
  await git(bed.root, 'remote', 'add', 'origin', remote);
  await git(bed.root, 'push', '-q', '-u', 'origin', 'main');
  await git(bed.folder, 'clone', '-q', remote, other);
}
async function pushByOther(files: Record<string, string>, ...flags: string[]): Promise<string> {
  await write(other, files);
  await git(other, 'add', '-A');
  await git(other, 'commit', '-q', '-m', 'Theirs');
  await git(other, 'push', '-q', ...flags, 'origin', 'HEAD:main');
  return head(other, 'HEAD');
}
async function sealed(workspace: Workspace, files: Record<string, string>): Promise<{ commit: string; base: string }> {
  const { path } = await workspace.open(task);
  await write(path, files);
  await workspace.capture(task, 'work');
  const candidate = (await workspace.candidate(task)) as Extract<Candidate, { kind: 'clean' }>;
  return { commit: await workspace.seal(task, candidate, 'Land'), base: candidate.base };
}

describe('the remote of the target', () => {
  it('is not asked without a remote, nor with push: never', async () => {
    expect(await bed.workspace.fetchTarget()).toEqual({ kind: 'none' });
    expect(await bed.workspace.pushTarget(await head(bed.root))).toEqual({ kind: 'none' });
    await share();
    const never = await bed.reopen({ push: 'never' });
    expect(await never.fetchTarget()).toEqual({ kind: 'none' });
    expect(await never.pushTarget(await head(bed.root))).toEqual({ kind: 'none' });
  });

  it('gets its branch by the first push, and no other ref', async () => {
    await git(bed.root, 'remote', 'add', 'origin', remote);
    expect(await bed.workspace.fetchTarget()).toEqual({ kind: 'new', name: 'origin/main' });
    expect(await bed.workspace.pushTarget(await head(bed.root))).toEqual({ kind: 'pushed', name: 'origin/main' });
    expect(await git(remote, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'same' });
  });

  it('is compared with the target, and no branch moves', async () => {
    await share();
    const before = await head(bed.root);
    const theirs = await pushByOther({ 'theirs.txt': 'x\n' });
    expect(await bed.workspace.fetchTarget()).toEqual({
      kind: 'behind',
      name: 'origin/main',
      commit: theirs,
      local: before,
    });
    expect(await head(bed.root)).toBe(before);
    await git(bed.root, 'commit', '-q', '--allow-empty', '-m', 'ours');
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'diverged', commit: theirs });
    await git(bed.root, 'pull', '-q', '--no-rebase', '--no-edit');
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'ahead', commit: theirs });
  });

  it('that was pushed by force is known as rewritten until a person brings both together', async () => {
    await share();
    await pushByOther({ 'theirs.txt': 'x\n' });
    await bed.workspace.fetchTarget();
    await git(bed.root, 'pull', '-q');
    await git(other, 'reset', '-q', '--hard', 'HEAD~1');
    const forced = await pushByOther({ 'forced.txt': 'y\n' }, '--force');
    for (let look = 0; look < 2; look += 1)
      expect(await bed.workspace.fetchTarget()).toMatchObject({
        kind: 'rewritten',
        name: 'origin/main',
        commit: forced,
      });
    await git(bed.root, 'pull', '-q', '--no-rebase', '--no-edit');
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'ahead' });
  });

  it('from which others removed commits by force does not get them again', async () => {
    await share();
    const removed = await pushByOther({ 'secret.txt': 'x\n' });
    await git(bed.root, 'pull', '-q');
    await bed.workspace.fetchTarget();
    await git(other, 'reset', '-q', '--hard', 'HEAD~1');
    await git(other, 'push', '-q', '--force', 'origin', 'HEAD:main');
    const rolledBack = await head(other, 'HEAD');
    await git(bed.root, 'commit', '-q', '--allow-empty', '-m', 'ours');
    for (let look = 0; look < 2; look += 1)
      expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'rewritten', commit: rolledBack });
    // A person follows the remote and keeps their own commit.
    await git(bed.root, 'rebase', '-q', '--onto', rolledBack, removed);
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'ahead' });
  });

  it('to which a person gives the removed commits again counts as before', async () => {
    await share();
    await pushByOther({ 'a.txt': 'x\n' });
    await git(bed.root, 'pull', '-q');
    await bed.workspace.fetchTarget();
    await git(remote, 'update-ref', 'refs/heads/main', await head(bed.root, 'HEAD~1'));
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'rewritten' });
    await git(bed.root, 'push', '-q', 'origin', 'main');
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'same' });
  });

  it('that lost the branch is not given it again', async () => {
    await share();
    await bed.workspace.fetchTarget();
    await git(remote, 'update-ref', '-d', 'refs/heads/main');
    expect(await bed.workspace.fetchTarget()).toEqual({ kind: 'gone', name: 'origin/main' });
  });

  it('is merged with the target in the object database, or the conflict is named', async () => {
    await share();
    const theirs = await pushByOther({ 'theirs.txt': 'x\n' });
    await write(bed.root, { 'ours.txt': 'x\n' });
    await git(bed.root, 'add', '-A');
    await git(bed.root, 'commit', '-q', '-m', 'ours');
    const ours = await head(bed.root);
    await bed.workspace.fetchTarget();
    const joined = await bed.workspace.joinRemote({ name: 'origin/main', commit: theirs });
    if (joined.kind !== 'clean') throw new Error('it conflicts');
    expect(await git(bed.root, 'rev-parse', `${joined.commit}^1`, `${joined.commit}^2`)).toBe(`${ours}\n${theirs}`);
    expect(await head(bed.root)).toBe(ours);
    expect(await bed.workspace.land(joined.commit, joined.base)).toEqual({ kind: 'landed' });
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    const conflicting = await pushByOther({ 'ours.txt': 'theirs\n' });
    await bed.workspace.fetchTarget();
    expect(await bed.workspace.joinRemote({ name: 'origin/main', commit: conflicting })).toEqual({
      kind: 'conflict',
      files: ['ours.txt'],
    });
  });
});

describe('a push', () => {
  it('is refused, not forced, when the remote has moved on', async () => {
    await share();
    const { commit } = await sealed(bed.workspace, { 'a.txt': 'x\n' });
    const theirs = await pushByOther({ 'theirs.txt': 'x\n' });
    expect(await bed.workspace.pushTarget(commit)).toMatchObject({ kind: 'moved', name: 'origin/main' });
    expect(await head(remote)).toBe(theirs);
  });

  it('to a protected branch is refused, with the words of the remote', async () => {
    await share();
    const { commit } = await sealed(bed.workspace, { 'a.txt': 'x\n' });
    await write(remote, { 'hooks/pre-receive': '#!/bin/sh\necho "main is protected" >&2\nexit 1\n' });
    await chmod(join(remote, 'hooks/pre-receive'), 0o755);
    const pushed = await bed.workspace.pushTarget(commit);
    expect(pushed).toMatchObject({ kind: 'refused', why: expect.stringContaining('main is protected') });
  });

  it('does not run the person’s hooks', async () => {
    await share();
    await write(bed.root, { '.git/hooks/pre-push': '#!/bin/sh\ntouch "$GIT_DIR/hook-ran"\nexit 1\n' });
    await chmod(join(bed.root, '.git/hooks/pre-push'), 0o755);
    const { commit } = await sealed(bed.workspace, { 'a.txt': 'x\n' });
    expect(await bed.workspace.pushTarget(commit)).toMatchObject({ kind: 'pushed' });
    await expect(access(join(bed.root, '.git/hook-ran'))).rejects.toThrow();
  });

  it('goes to the upstream of the target, whatever it is called', async () => {
    await git(bed.root, 'remote', 'add', 'up', remote);
    await git(bed.root, 'push', '-q', 'up', 'main:trunk');
    await git(bed.root, 'config', 'branch.main.remote', 'up');
    await git(bed.root, 'config', 'branch.main.merge', 'refs/heads/trunk');
    const { commit } = await sealed(bed.workspace, { 'a.txt': 'x\n' });
    expect(await bed.workspace.pushTarget(commit)).toEqual({ kind: 'pushed', name: 'up/trunk' });
    expect(await head(remote, 'trunk')).toBe(commit);
  });

  it('of a task’s branch only adds to it, and the worktree follows', async () => {
    await share();
    const workspace = await bed.reopen({ push: 'branch' });
    await sealed(workspace, { 'a.txt': 'x\n' });
    await pushByOther({ 'theirs.txt': 'x\n' });
    await git(bed.root, 'pull', '-q');
    const candidate = (await workspace.candidate(task)) as Extract<Candidate, { kind: 'clean' }>;
    const proven = { tree: candidate.tree, base: candidate.base, message: 'Add a\n\nTask: #1' };
    const first = await workspace.pushBranch(task, proven);
    expect(first.pushed).toMatchObject({ kind: 'pushed' });
    expect(await head(remote, task.branch)).toBe(first.commit);
    expect(await git(remote, 'rev-parse', `${task.branch}^{tree}`)).toBe(candidate.tree);
    // What the worktree has is what was pushed, so that nothing is undone by the next capture.
    const again = await workspace.capture(task, 'nothing new');
    expect(again.commit).toBe(first.commit);
    expect(await workspace.pushBranch(task, proven)).toEqual(first);
    const { path } = await workspace.open(task);
    await write(path, { 'a.txt': 'y\n' });
    const { tree } = await workspace.capture(task, 'rework');
    const second = await workspace.pushBranch(task, { ...proven, tree });
    expect(second.pushed).toMatchObject({ kind: 'pushed' });
    expect(await git(remote, 'merge-base', '--is-ancestor', first.commit, task.branch)).toBe('');
    expect(await workspace.pushTarget(second.commit)).toEqual({ kind: 'none' });
  });

  it('of a task’s branch undoes nothing that reached the target while it was proven', async () => {
    await share();
    const workspace = await bed.reopen({ push: 'branch' });
    await sealed(workspace, { 'a.txt': 'x\n' });
    await pushByOther({ 'early.txt': 'x\n' });
    await git(bed.root, 'pull', '-q');
    const { tree, base } = (await workspace.candidate(task)) as Extract<Candidate, { kind: 'clean' }>;
    const late = await pushByOther({ 'late.txt': 'x\n' });
    await git(bed.root, 'pull', '-q');
    const { commit } = await workspace.pushBranch(task, { tree, base, message: 'Add a' });
    const merged = await git(bed.root, 'merge-tree', '--write-tree', late, commit);
    expect(await git(bed.root, 'ls-tree', '--name-only', merged)).toContain('late.txt');
  });

  it('of a task’s branch that others squash into one commit leaves nothing to land', async () => {
    await share();
    const workspace = await bed.reopen({ push: 'branch' });
    await sealed(workspace, { 'a.txt': 'x\n' });
    const { tree, base } = (await workspace.candidate(task)) as Extract<Candidate, { kind: 'clean' }>;
    const { commit } = await workspace.pushBranch(task, { tree, base, message: 'Add a' });
    await git(other, 'fetch', '-q', 'origin', task.branch);
    await git(other, 'merge', '-q', '--squash', 'FETCH_HEAD');
    const theirs = await pushByOther({});
    await git(bed.root, 'pull', '-q');
    expect(await workspace.candidate(task)).toEqual({ kind: 'empty', base: theirs });
    expect(await workspace.isLanded(commit)).toBe(false);
  });
});

describe('a remote that cannot be used', () => {
  let server: Server | null = null;
  afterEach(() => server?.close());

  it.each([
    ['does not exist', () => join(bed.folder, 'nowhere')],
    ['refuses connections', () => 'http://127.0.0.1:9/x.git'],
    ['speaks an unknown protocol', () => `ext::sh -c touch% ${join(bed.folder, 'never')}`],
  ])('is reported and changes nothing when it %s', async (_name, url) => {
    await git(bed.root, 'remote', 'add', 'origin', url());
    expect(await bed.workspace.fetchTarget()).toMatchObject({ kind: 'unreachable', name: 'origin/main' });
    expect(await bed.workspace.pushTarget(await head(bed.root))).toMatchObject({ kind: 'unreachable' });
    await expect(access(join(bed.folder, 'never'))).rejects.toThrow();
  });

  it('never makes git ask a person for a password', async () => {
    server = createServer((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n'),
      ),
    ).listen(0, '127.0.0.1');
    await new Promise((listening) => server!.once('listening', listening));
    const { port } = server.address() as { port: number };
    await git(bed.root, 'remote', 'add', 'origin', `http://127.0.0.1:${port}/x.git`);
    const found = await bed.workspace.fetchTarget();
    expect(found).toMatchObject({ kind: 'unreachable', why: expect.stringMatching(/Username|Authentication/) });
  });

  it('that hangs is given up after the limit', async () => {
    server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((listening) => server!.once('listening', listening));
    const { port } = server.address() as { port: number };
    await git(bed.root, 'remote', 'add', 'origin', `http://127.0.0.1:${port}/x.git`);
    const workspace = await bed.reopen({ remoteLimitMs: 500 });
    expect(await workspace.fetchTarget()).toMatchObject({
      kind: 'unreachable',
      why: 'fetching from origin took longer than 0.5 s',
    });
  });
});

describe('branches for CI', () => {
  const branches = () => git(remote, 'for-each-ref', '--format=%(refname)', 'refs/heads/tidemill/ci');
  const nameOf = (commit: string) => `refs/heads/tidemill/ci/${commit.slice(0, 16)}`;

  it('are removed after use; those that a killed process left go with the next fetch, those of others stay', async () => {
    await share();
    const tree = await git(bed.root, 'rev-parse', 'main^{tree}');
    const [judged, left, moved, foreign, running] = (await Promise.all(
      ['judged', 'left', 'moved', 'foreign', 'running'].map((text) =>
        git(bed.root, 'commit-tree', tree, '-p', 'main', '-m', text),
      ),
    )) as [string, string, string, string, string];
    await bed.workspace.offerToCi(judged);
    await bed.workspace.withdrawFromCi(judged);
    expect(await branches()).toBe('');
    for (const commit of [left, moved]) expect(await bed.workspace.offerToCi(commit)).toMatchObject({ kind: 'pushed' });
    await git(bed.root, 'push', '-q', 'origin', `${foreign}:${nameOf(foreign)}`);
    await git(bed.root, 'push', '-q', '--force', 'origin', `${foreign}:${nameOf(moved)}`);
    // What is in use stays.
    await bed.workspace.fetchTarget();
    expect((await branches()).split('\n').sort()).toEqual([left, moved, foreign].map(nameOf).sort());
    const after = await bed.reopen();
    await after.offerToCi(running);
    await after.fetchTarget();
    expect((await branches()).split('\n').sort()).toEqual([moved, foreign, running].map(nameOf).sort());
    await after.withdrawFromCi(running);
    expect((await branches()).split('\n').sort()).toEqual([moved, foreign].map(nameOf).sort());
  });
});
