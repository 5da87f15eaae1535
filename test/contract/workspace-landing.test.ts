import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { GitWorkspace } from '../../packages/daemon/src/workspace/workspace.ts';
import { type Bed, git, makeBed, personEnv, write } from './workspace-bed.ts';

let bed: Bed;
afterEach(() => bed.remove());

const taskOf = (number: number) => ({ number, branch: `task/${number}-t` });

/** A sealed commit with these files, ready to land. */
async function prepare(workspace: GitWorkspace, number: number, files: Record<string, string>) {
  const { path } = await workspace.open(taskOf(number));
  await write(path, files);
  await workspace.capture(taskOf(number), `Task ${number}\n`);
  const candidate = await workspace.candidate(taskOf(number));
  if (candidate.kind !== 'clean') throw new Error(`no clean candidate: ${candidate.kind}`);
  const commit = await workspace.seal(taskOf(number), candidate, `Land ${number}\n`);
  return { commit, base: candidate.base };
}

const ready = async (files: Record<string, string> = { 'README.md': 'landed\n', 'new.txt': 'new\n' }) => {
  bed = await makeBed();
  return prepare(bed.workspace, 1, files);
};

describe("a person's checkout", () => {
  it('waits while tracked files have uncommitted changes, says which, and goes on', async () => {
    const { commit, base } = await ready();
    await write(bed.root, { 'README.md': 'mine\n', 'src/a.txt': 'mine, too\n', '.gitignore': 'z\n' });
    await git(bed.root, 'add', 'src/a.txt');
    const landing = await bed.workspace.land(commit, base);
    expect(landing).toMatchObject({ kind: 'waiting' });
    const why = landing.kind === 'waiting' ? landing.why : '';
    expect(why).toBe(
      `in ${bed.root} .gitignore and 2 more files have uncommitted changes; commit, stash or discard them so that landing can continue`,
    );
    expect(await bed.workspace.landingObstacle()).toBe(why);
    expect(await readFile(join(bed.root, 'README.md'), 'utf8')).toBe('mine\n');
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(base);
    await git(bed.root, 'stash', '-q');
    expect(await bed.workspace.landingObstacle()).toBe(null);
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
  });

  it('waits rather than overwrite an untracked or an ignored file', async () => {
    const { commit, base } = await ready({ 'new.txt': 'new\n' });
    await write(bed.root, { 'new.txt': 'my own\n' });
    const expectWaiting = async () => {
      expect(await bed.workspace.land(commit, base)).toMatchObject({
        kind: 'waiting',
        why: expect.stringContaining('new.txt would be overwritten and git does not track it'),
      });
      expect(await readFile(join(bed.root, 'new.txt'), 'utf8')).toBe('my own\n');
    };
    await expectWaiting();
    await writeFile(join(bed.root, '.git/info/exclude'), 'new.txt\n');
    await expectWaiting();
    await rm(join(bed.root, 'new.txt'));
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
  });

  it('lets untracked files that are in nobody’s way be', async () => {
    const { commit, base } = await ready();
    await write(bed.root, { 'notes.md': 'my notes\n' });
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
    expect(await readFile(join(bed.root, 'notes.md'), 'utf8')).toBe('my notes\n');
  });

  it('waits for a merge or a rebase in progress', async () => {
    const { commit, base } = await ready();
    await git(bed.root, 'checkout', '-q', '-b', 'other');
    await write(bed.root, { 'src/a.txt': 'other\n' });
    await git(bed.root, 'commit', '-q', '-am', 'other');
    await git(bed.root, 'checkout', '-q', 'main');
    await git(bed.root, 'merge', '-q', '--no-ff', '--no-commit', 'other');
    expect(await bed.workspace.landingObstacle()).toMatch(/a merge is in progress; finish or abort it/);
    expect(await bed.workspace.land(commit, base)).toMatchObject({ kind: 'waiting' });
    await git(bed.root, 'merge', '--abort');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
  });

  it('waits while the target itself is being rebased', async () => {
    bed = await makeBed();
    await git(bed.root, 'checkout', '-q', '-b', 'other');
    await write(bed.root, { 'src/a.txt': 'other\n' });
    await git(bed.root, 'commit', '-q', '-am', 'other');
    await git(bed.root, 'checkout', '-q', 'main');
    await write(bed.root, { 'src/a.txt': 'mine\n' });
    await git(bed.root, 'commit', '-q', '-am', 'mine');
    const { commit, base } = await prepare(bed.workspace, 1, { 'x.txt': 'x\n' });
    await expect(git(bed.root, 'rebase', 'other')).rejects.toThrow();
    expect(await bed.workspace.land(commit, base)).toMatchObject({
      kind: 'waiting',
      why: expect.stringContaining('a rebase'),
    });
    await git(bed.root, 'rebase', '--abort');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
  });

  it('never removes its index.lock, however old', async () => {
    const { commit, base } = await ready();
    const lock = join(bed.root, '.git/index.lock');
    await writeFile(lock, '');
    await utimes(lock, 0, 0);
    expect(await bed.workspace.land(commit, base)).toMatchObject({
      kind: 'waiting',
      why: expect.stringContaining(lock),
    });
    expect(existsSync(lock)).toBe(true);
    await rm(lock);
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
  });

  it('is left alone when it is on another branch or detached, dirty or not', async () => {
    const first = await ready();
    await git(bed.root, 'checkout', '-q', '--detach');
    await write(bed.root, { 'README.md': 'mine\n' });
    expect(await bed.workspace.land(first.commit, first.base)).toEqual({ kind: 'landed' });
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(first.commit);
    expect(await readFile(join(bed.root, 'README.md'), 'utf8')).toBe('mine\n');
    expect(await git(bed.root, 'rev-parse', 'HEAD')).toBe(first.base);
  });

  it('may be a linked worktree', async () => {
    const { commit, base } = await ready();
    await git(bed.root, 'checkout', '-q', '-b', 'other');
    const linked = join(bed.folder, 'linked one');
    await git(bed.root, 'worktree', 'add', '-q', linked, 'main');
    await write(linked, { 'README.md': 'mine\n' });
    expect(await bed.workspace.land(commit, base)).toMatchObject({
      why: expect.stringContaining(`in ${linked} README.md has`),
    });
    await git(linked, 'checkout', '-q', '.');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
    expect(await git(linked, 'status', '--porcelain')).toBe('');
    expect(await readFile(join(linked, 'new.txt'), 'utf8')).toBe('new\n');
    expect(await bed.workspace.leaks([taskOf(1)])).toEqual([]);
  });
});

describe('the target of a landing', () => {
  it('that moved lets nothing land; a landed commit lands again as landed', async () => {
    const { commit, base } = await ready();
    await git(bed.root, 'commit', '-q', '--allow-empty', '-m', 'a person was quicker');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'moved' });
    expect(await bed.workspace.isLanded(commit)).toBe(false);
    const candidate = await bed.workspace.candidate(taskOf(1));
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const next = await bed.workspace.seal(taskOf(1), candidate, 'again\n');
    expect(await bed.workspace.land(next, candidate.base)).toEqual({ kind: 'landed' });
    await git(bed.root, 'commit', '-q', '--allow-empty', '-m', 'later');
    expect(await bed.workspace.land(next, candidate.base)).toEqual({ kind: 'landed' });
    expect(await bed.workspace.isLanded('0'.repeat(40))).toBe(false);
  });

  it.each(['checked out', 'not checked out'])(
    '%s lets one of two that race land, and the other learns that it moved',
    async (how) => {
      bed = await makeBed();
      // A second daemon with a data folder of its own: nothing but git is shared.
      const other = await bed.reopen({ dataDir: join(bed.folder, 'other data') });
      const [a, b] = [await prepare(bed.workspace, 1, { 'a.txt': 'a\n' }), await prepare(other, 2, { 'b.txt': 'b\n' })];
      if (how !== 'checked out') await git(bed.root, 'checkout', '-q', '--detach');
      const landings = await Promise.all([bed.workspace.land(a.commit, a.base), other.land(b.commit, b.base)]);
      const kinds = landings.map(({ kind }) => kind).sort();
      // Two daemons on one checkout may also meet at its index.lock; then the second waits and finds the target moved.
      expect([
        ['landed', 'moved'],
        ['landed', 'waiting'],
      ]).toContainEqual(kinds);
      const winner = landings[0]!.kind === 'landed' ? a : b;
      expect(await git(bed.root, 'rev-parse', 'main')).toBe(winner.commit);
      if (how === 'checked out') expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    },
  );

  it('refuses a commit that does not follow its base', async () => {
    const { base } = await ready();
    const stray = await git(bed.root, 'commit-tree', '-m', 'stray', 'HEAD^{tree}');
    await expect(bed.workspace.land(stray, base)).rejects.toMatchObject({ code: 'git_failed' });
  });
});

describe('a landing that is cut short', () => {
  const COUNT = 900;
  const many = (text: string) =>
    Object.fromEntries(
      Array.from({ length: COUNT }, (_, i) => [`many/${i % 30}/${i}.txt`, `${text} ${i}\n`.repeat(200)]),
    );

  /** Kills git itself, in the middle of writing a person's files. */
  async function killMidway(commit: string, index: number): Promise<boolean> {
    const child = spawn('git', ['merge', '-q', '--ff-only', commit], {
      cwd: bed.root,
      env: personEnv,
      stdio: 'ignore',
    });
    const watcher = watch(join(bed.root, `many/${index}`));
    const ended = once(child, 'exit');
    await Promise.race([once(watcher, 'change'), ended]);
    child.kill('SIGKILL');
    const [, signal] = await ended;
    watcher.close();
    return signal === 'SIGKILL';
  }

  it('is undone and done again, and a person’s later work is not touched', async () => {
    bed = await makeBed({ files: { ...many('before'), 'README.md': 'hello\n', 'b.txt': 'b\n' } });
    const { commit, base } = await prepare(bed.workspace, 1, {
      ...many('after'),
      'new/n.txt': 'n\n',
      'b.txt': 'after\n',
    });
    for (const folder of [3, 17]) {
      // The note the engine leaves before it lets git begin.
      await writeFile(join(bed.dataDir, 'landing.json'), JSON.stringify({ path: bed.root, base, commit }));
      expect(await killMidway(commit, folder)).toBe(true);
      expect(await bed.workspace.landingObstacle()).toMatch(/index\.lock/);
      await rm(join(bed.root, '.git/index.lock'));
      expect(await bed.workspace.landingObstacle()).toBe(null);
      expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    }
    await writeFile(join(bed.dataDir, 'landing.json'), JSON.stringify({ path: bed.root, base, commit }));
    await killMidway(commit, 17);
    await rm(join(bed.root, '.git/index.lock'));
    await write(bed.root, { 'b.txt': "a person's own change\n" });
    expect(await bed.workspace.land(commit, base)).toMatchObject({
      why: expect.stringContaining('b.txt has uncommitted'),
    });
    expect(await git(bed.root, 'status', '--porcelain')).toBe(' M b.txt');
    await git(bed.root, 'checkout', '-q', 'b.txt');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    expect(await readFile(join(bed.root, 'many/5/5.txt'), 'utf8')).toContain('after 5\n');
    expect(existsSync(join(bed.dataDir, 'landing.json'))).toBe(false);
  });

  it('is also recovered between the index and the branch', async () => {
    const { commit, base } = await ready();
    await writeFile(join(bed.dataDir, 'landing.json'), JSON.stringify({ path: bed.root, base, commit }));
    await git(bed.root, 'read-tree', '-m', '-u', 'HEAD', commit);
    expect(await git(bed.root, 'status', '--porcelain')).not.toBe('');
    expect(await bed.workspace.land(commit, base)).toEqual({ kind: 'landed' });
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
    expect(await readFile(join(bed.root, 'new.txt'), 'utf8')).toBe('new\n');
  });

  it('survives kill -9 of the landing process and its group at any moment', async () => {
    bed = await makeBed({ files: many('before') });
    const { commit, base } = await prepare(bed.workspace, 1, many('after'));
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'workspace-lander.ts'), bed.root, bed.dataDir, commit, base],
      {
        env: personEnv,
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      },
    );
    const ended = once(child, 'exit');
    const watcher = watch(join(bed.root, 'many/3'));
    await Promise.race([once(watcher, 'change'), ended]);
    process.kill(-child.pid!, 'SIGKILL');
    watcher.close();
    await ended;
    const next = await bed.reopen();
    expect(await next.land(commit, base)).toEqual({ kind: 'landed' });
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(commit);
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
  });
});
