import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
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
      await rm(join(moved.path, 'lib/inner/i.txt'));
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

describe('the submodules of a repository', () => {
  const file = ['-c', 'protocol.file.allow=always'];
  const commitOf = async (folder: string) => (await git(folder, 'rev-parse', 'HEAD')).trim();
  const makeInner = async (folder: string, text: string) => {
    await mkdir(folder);
    await git(folder, 'init', '-q', '-b', 'main');
    await write(folder, { 'i.txt': text, '.gitattributes': '*.txt filter=evil\n' });
    await git(folder, 'add', '-A');
    await git(folder, 'commit', '-q', '-m', 'inner');
  };

  it('have their files in worktrees and proofs, also nested ones, and a proof undoes what a gate did to them', async () => {
    const bed = await makeBed({ name: 'filled' });
    try {
      const [inner, deep] = [join(bed.folder, 'inner'), join(bed.folder, 'deep')];
      await makeInner(deep, 'deep\n');
      await makeInner(inner, 'one\n');
      await git(inner, ...file, 'submodule', '--quiet', 'add', deep, 'deep');
      await git(inner, 'commit', '-q', '-m', 'nested');
      const before = await bed.workspace.targetCommit();
      await git(bed.root, ...file, 'submodule', '--quiet', 'add', inner, 'lib/inner');
      await git(bed.root, ...file, 'submodule', '--quiet', 'update', '--init', '--recursive');
      await git(bed.root, 'commit', '-q', '-m', 'Add a submodule');
      const [marker, smudge] = [join(bed.folder, 'ran'), 'filter.evil.smudge'];
      await git(bed.root, 'config', smudge, `touch '${marker}'; cat`);
      await git(join(bed.root, 'lib/inner'), 'config', smudge, `touch '${marker}'; cat`);
      const task = { number: 1, branch: 'task/1-sub' };
      const tree = await bed.workspace.open(task);
      const text = (root: string, name: string) => readFile(join(root, 'lib/inner', name), 'utf8');
      expect([await text(tree.path, 'i.txt'), await text(tree.path, 'deep/i.txt')]).toEqual(['one\n', 'deep\n']);
      await write(tree.path, { 'x.txt': 'x\n' });
      const captured = await bed.workspace.capture(task, 'x\n');
      expect(captured).toMatchObject({ files: ['x.txt'], notes: [] });
      const proof = await bed.workspace.checkOut(captured.commit);
      await write(proof.path, { 'lib/inner/i.txt': 'changed by a gate\n', 'lib/inner/new.txt': '' });
      await proof.reset();
      expect([await text(proof.path, 'i.txt'), await text(proof.path, 'deep/i.txt')]).toEqual(['one\n', 'deep\n']);
      expect([await readdir(join(proof.path, 'lib/inner')), proof.emptySubmodules, await proof.changes()]).toEqual([
        ['.gitattributes', '.gitmodules', 'deep', 'i.txt'],
        [],
        [],
      ]);
      // A partial clone has the commit and its tree, but not every file.
      const blob = await git(inner, 'rev-parse', 'HEAD:i.txt');
      await rm(join(bed.root, '.git/modules/lib/inner/objects', blob.slice(0, 2), blob.slice(2)));
      const partial = await bed.workspace.checkOut(captured.commit);
      expect(partial.emptySubmodules).toEqual(['lib/inner']);
      await partial.close();
      await proof.close();
      const earlier = await bed.workspace.checkOut(before);
      expect([await earlier.changes(), (await readdir(earlier.path)).includes('lib')]).toEqual([[], false]);
      await earlier.close();
      expect(await readdir(bed.folder)).not.toContain('ran');
    } finally {
      await bed.remove();
    }
  });

  it('run nothing that a change says: no update command, no address, no folder elsewhere, no commit that was not fetched', async () => {
    const bed = await makeBed({ name: 'hostile' });
    try {
      const inner = join(bed.folder, 'inner');
      await makeInner(inner, 'one\n');
      await git(bed.root, ...file, 'submodule', '--quiet', 'add', inner, 'inner');
      await git(bed.root, 'commit', '-q', '-m', 'Add a submodule');
      const [secret, marker] = [join(bed.folder, 'elsewhere'), join(bed.folder, 'ran')];
      await makeInner(secret, 'secret\n');
      const unknown = await commitOf(secret);
      const modules = ['inner', 'other'].map(
        (name) => `[submodule "${name}"]\n\tpath = ${name}\n\turl = ${secret}\n\tupdate = !touch ${marker}\n`,
      );
      const task = { number: 1, branch: 'task/1-sub' };
      const { path } = await bed.workspace.open(task);
      await write(path, { '.gitmodules': modules.join('') });
      for (const name of ['inner', 'other'])
        await git(path, 'update-index', '--add', '--cacheinfo', `160000,${unknown},${name}`);
      await git(path, 'add', '.gitmodules');
      const commit = await git(path, 'write-tree').then(async (tree) =>
        (await git(path, 'commit-tree', tree.trim(), '-p', 'HEAD', '-m', 'hostile')).trim(),
      );
      const proof = await bed.workspace.checkOut(commit);
      expect(proof.emptySubmodules).toEqual(['inner', 'other']);
      expect(await readdir(join(proof.path, 'other'))).toEqual([]);
      await proof.close();
      await rm(join(path, 'inner'), { recursive: true });
      await symlink(secret, join(path, 'inner'));
      await bed.workspace.open(task);
      expect(await readFile(join(secret, 'i.txt'), 'utf8')).toBe('secret\n');
      expect(await readdir(bed.folder)).not.toContain('ran');
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
