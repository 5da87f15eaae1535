import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitWith } from '../../packages/daemon/src/git/program.ts';
import { checkTarget, inspectRepository } from '../../packages/daemon/src/git/repository.ts';
import { openWorkspace } from '../../packages/daemon/src/workspace/workspace.ts';
import { git, makeBed, realClock, write } from './workspace-bed.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tidemill repo ü-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a repository that cannot be worked in is refused, with what would be right', () => {
  it('when its path is no folder, a file, or no repository', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const path of [join(folder, 'missing'), join(folder, 'file'), folder]) {
      await expect(inspectRepository(path)).rejects.toMatchObject({
        code: 'not_a_repository',
        hint: expect.stringMatching(/repository/),
      });
    }
  });

  it('when it has no commits yet', async () => {
    await git(folder, 'init', '-q', '-b', 'main');
    await expect(inspectRepository(folder)).rejects.toMatchObject({
      code: 'no_commits',
      message: `${folder} has no commits yet on main`,
      hint: expect.stringContaining('git commit'),
    });
  });

  it('when it is bare, or the inside of a .git folder', async () => {
    await git(folder, 'init', '-q', '--bare', 'bare.git');
    await expect(inspectRepository(join(folder, 'bare.git'))).rejects.toMatchObject({ message: /bare repository/ });
    await git(folder, 'init', '-q', 'plain');
    await expect(inspectRepository(join(folder, 'plain/.git'))).rejects.toMatchObject({ code: 'not_a_repository' });
  });

  it('when the target is no branch: the error names those there are', async () => {
    await git(folder, 'init', '-q', '-b', 'trunk');
    await git(folder, 'commit', '-q', '--allow-empty', '-m', 'Start');
    const options = {
      root: folder,
      dataDir: join(folder, 'd'),
      landing: 'squash',
      push: 'never',
      clock: realClock,
    } as const;
    await expect(openWorkspace({ ...options, target: 'main' })).rejects.toMatchObject({
      code: 'bad_config',
      hint: expect.stringContaining('(trunk)'),
    });
  });

  it('when the data folder lies inside it', async () => {
    await git(folder, 'init', '-q', '-b', 'main');
    await git(folder, 'commit', '-q', '--allow-empty', '-m', 'Start');
    const options = { root: folder, target: 'main', landing: 'squash', push: 'never', clock: realClock } as const;
    await expect(openWorkspace({ ...options, dataDir: join(folder, 'data') })).rejects.toMatchObject({
      code: 'bad_config',
      hint: expect.stringContaining('outside'),
    });
  });

  it('when its configuration is broken, with what git says', async () => {
    await git(folder, 'init', '-q');
    await writeFile(join(folder, '.git/config'), '[core\n');
    await expect(inspectRepository(folder)).rejects.toMatchObject({ code: 'git_failed', message: /bad config/ });
  });
});

describe('a repository that can be worked in', () => {
  it('is described, from any folder in it, detached or not', async () => {
    await git(folder, 'init', '-q', '-b', 'feature/x');
    await write(folder, { 'deep/er/a.txt': 'a', '.gitmodules': '' });
    await git(folder, 'add', '-A');
    await git(folder, 'commit', '-q', '-m', 'Start');
    await git(folder, 'branch', 'main');
    const info = await inspectRepository(join(folder, 'deep/er'));
    expect(info).toMatchObject({
      root: folder,
      gitDir: join(folder, '.git'),
      commonDir: join(folder, '.git'),
      mainCheckout: folder,
      currentBranch: 'feature/x',
      isDetached: false,
      hasSubmodules: true,
      isShallow: false,
      remotes: [],
      branches: ['feature/x', 'main'],
    });
    checkTarget(info, 'feature/x');
    await git(folder, 'checkout', '-q', '--detach');
    expect(await inspectRepository(folder)).toMatchObject({ currentBranch: null, isDetached: true });
  });

  it('may be a linked worktree of a bare repository', async () => {
    await git(folder, 'init', '-q', '-b', 'main', 'seed');
    await git(join(folder, 'seed'), 'commit', '-q', '--allow-empty', '-m', 'Start');
    await git(folder, 'clone', '-q', '--bare', 'seed', 'shared.git');
    await git(join(folder, 'shared.git'), 'worktree', 'add', '-q', '../tree', 'main');
    const info = await inspectRepository(join(folder, 'tree'));
    expect(info).toMatchObject({
      root: join(folder, 'tree'),
      commonDir: join(folder, 'shared.git'),
      mainCheckout: null,
    });
  });

  it('may have submodules: they stay links, and the rest works', async () => {
    const bed = await makeBed({ name: 'with submodule' });
    try {
      const inner = join(bed.folder, 'inner');
      await mkdir(inner);
      await git(inner, 'init', '-q', '-b', 'main');
      await write(inner, { 'i.txt': 'i\n' });
      await git(inner, 'add', '-A');
      await git(inner, 'commit', '-q', '-m', 'inner');
      await git(bed.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'lib/inner');
      await git(bed.root, 'commit', '-q', '-m', 'Add a submodule');
      const task = { number: 1, branch: 'task/1-sub' };
      const tree = await bed.workspace.open(task);
      await write(tree.path, { 'x.txt': 'x\n' });
      const captured = await bed.workspace.capture(task, 'x\n');
      expect(captured.files).toEqual(['x.txt']);
      const candidate = await bed.workspace.candidate(task);
      if (candidate.kind !== 'clean') throw new Error(candidate.kind);
      const commit = await bed.workspace.seal(task, candidate, 'Land\n');
      await (await bed.workspace.checkOut(commit)).close();
      expect(await bed.workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
      expect(await git(bed.root, 'status', '--porcelain')).toBe('');
      await git(bed.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update');
      await bed.workspace.remove(task);
      const moved = await bed.workspace.open({ number: 2, branch: 'task/2-sub' });
      await git(moved.path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
      await git(join(moved.path, 'lib/inner'), 'commit', '-q', '--allow-empty', '-m', 'moved on');
      const link = await bed.workspace.capture({ number: 2, branch: 'task/2-sub' }, 'moved\n');
      expect(link.files).toEqual([]);
      expect(link.notes.join()).toMatch(/submodule lib\/inner keeps its commit/);
      await bed.workspace.remove({ number: 2, branch: 'task/2-sub' });
      expect(await bed.workspace.leaks([])).toEqual([]);
    } finally {
      await bed.remove();
    }
  });
});

describe('the git module', () => {
  it('cuts output at the limit, passes answers through, and fails with what git said', async () => {
    await git(folder, 'init', '-q');
    const run = gitWith({ cwd: folder });
    expect(await run(['help', '-a'], { maxBytes: 10 })).toMatchObject({
      truncated: true,
      bytes: { length: 10 },
    });
    expect((await run(['config', '--get', 'no.such'], { answers: [1] })).code).toBe(1);
    await expect(run(['nonsense'])).rejects.toMatchObject({ code: 'git_failed', message: /not a git command/ });
    await expect(gitWith({ cwd: join(folder, 'gone') })(['status'])).rejects.toMatchObject({ hint: /Install git/ });
  });
});
