import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FolderImage } from '../support/folder-image.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

/**
 * Everything an agent can write into its worktree to make a later git run something. The daemon's git runs
 * outside the sandbox, so none of it may be run. Each case prepares its attack and then runs all operations of the workspace.
 */
const task = { number: 7, branch: 'task/7-a-b' };
let bed: Bed;
let tree: string;
/** The same for all cases, because armed repositories name it. */
let canary: string;
let armedImage: FolderImage;
let submoduleImage: FolderImage | null = null;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidemill-escape-'));
  canary = join(folder, 'canary');
  await arm(join(folder, 'armed'));
  armedImage = new FolderImage(join(folder, 'armed'));
});
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());
afterAll(() => rm(dirname(canary), { recursive: true }));

/** The same as `arm`, but quicker where there is nothing yet. */
async function armed(folder: string): Promise<void> {
  if (existsSync(folder)) await arm(folder);
  else armedImage.writeTo(folder);
}

/** A repository that runs something on every occasion git has for it, with a changed file so that git has to look. */
async function arm(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(folder, 'init', '-q');
  await write(folder, { 'inner.txt': 'one\n' });
  await git(folder, 'add', '-A');
  await git(folder, 'commit', '-q', '-m', 'inner');
  const run = `touch '${canary}'; cat`;
  for (const key of ['filter.x.clean', 'filter.x.smudge', 'core.fsmonitor', 'core.sshCommand', 'diff.x.textconv'])
    await git(folder, 'config', key, run);
  await git(folder, 'config', 'diff.external', `touch '${canary}'`);
  await git(folder, 'config', 'uploadpack.packObjectsHook', run);
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit'])
    await writeFile(join(folder, '.git/hooks', hook), `#!/bin/sh\n${run}\n`, { mode: 0o755 });
  await write(folder, { '.gitattributes': '* filter=x diff=x\n', '.git/info/attributes': '* filter=x diff=x\n' });
  // As long as before: git cannot tell by its size and has to ask the filter.
  await write(folder, { 'inner.txt': 'two\n' });
}

/** The project has a submodule, as a link that is not checked out in worktrees. */
async function withSubmodule(): Promise<void> {
  if (submoduleImage) {
    submoduleImage.writeTo(bed.root);
    await git(bed.root, 'update-index', '-q', '--refresh');
    return;
  }
  const lib = join(bed.folder, 'lib');
  await mkdir(lib);
  await git(lib, 'init', '-q');
  await write(lib, { 'lib.txt': 'lib\n' });
  await git(lib, 'add', '-A');
  await git(lib, 'commit', '-q', '-m', 'lib');
  await git(bed.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib, 'vendor/lib');
  await git(bed.root, 'commit', '-q', '-am', 'submodule');
  submoduleImage = new FolderImage(bed.root);
}

interface Case {
  name: string;
  before?: () => Promise<void>;
  mischief: () => Promise<void>;
  /** Files the capture must name, if any. */
  files?: string[];
}

const CASES: Case[] = [
  { name: 'a nested repository', mischief: () => armed(join(tree, 'nested')), files: ['nested/inner.txt'] },
  {
    name: 'a nested repository in a folder whose name holds a newline',
    mischief: () => armed(join(tree, 'new\nline')),
    files: ['new\nline/inner.txt'],
  },
  {
    name: 'nested repositories within one another',
    mischief: async () => {
      await armed(join(tree, 'a'));
      await armed(join(tree, 'a/b\n'));
      await armed(join(tree, 'a/b\n/"c"'));
    },
    files: ['a/inner.txt', 'a/b\n/inner.txt', 'a/b\n/"c"/inner.txt'],
  },
  {
    name: 'a populated submodule',
    before: withSubmodule,
    mischief: () => armed(join(tree, 'vendor/lib')),
    files: [],
  },
  {
    name: 'a submodule whose .git file names a repository elsewhere',
    before: withSubmodule,
    mischief: async () => {
      await armed(join(tree, 'ignored/store'));
      await writeFile(join(tree, 'vendor/lib/.git'), `gitdir: ${join(tree, 'ignored/store/.git')}\n`);
    },
    files: [],
  },
  {
    name: 'a submodule whose .git is a link',
    before: withSubmodule,
    mischief: async () => {
      await armed(join(tree, 'ignored/store'));
      await symlink(join(tree, 'ignored/store/.git'), join(tree, 'vendor/lib/.git'));
    },
    files: [],
  },
  {
    name: '.gitmodules that name a command and an external transport',
    before: withSubmodule,
    mischief: async () => {
      const entry = '[submodule "vendor/lib"]\n\tpath = vendor/lib\n\tignore = none\n';
      await armed(join(tree, 'vendor/lib'));
      await write(tree, {
        '.gitmodules': `${entry}\turl = ext::touch ${canary}\n\tupdate = !touch ${canary}\n`,
      });
    },
    files: ['.gitmodules'],
  },
  {
    name: '.gitmodules that cannot be read',
    before: withSubmodule,
    mischief: async () => {
      await armed(join(tree, 'vendor/lib'));
      await write(tree, { 'x.txt': 'x\n', '.gitmodules': '[[[ no\n' });
    },
  },
  {
    name: 'a repository over the worktree',
    mischief: async () => {
      await rm(join(tree, '.git'));
      await armed(tree);
    },
    files: ['inner.txt'],
  },
  {
    name: 'a repository over the worktree that lacks objects and says where to get them',
    mischief: async () => {
      await rm(join(tree, '.git'));
      await armed(tree);
      await git(tree, 'config', 'extensions.partialClone', 'origin');
      await git(tree, 'config', 'core.repositoryFormatVersion', '1');
      await git(tree, 'config', 'remote.origin.promisor', 'true');
      await git(tree, 'config', 'remote.origin.url', `ext::touch ${canary}`);
      await git(tree, 'config', 'protocol.ext.allow', 'always');
      const blob = await git(tree, 'rev-parse', 'HEAD:inner.txt');
      await rm(join(tree, '.git/objects', blob.slice(0, 2), blob.slice(2)), { force: true });
    },
    files: ['inner.txt'],
  },
  {
    name: 'the .git file as a link to an armed repository',
    mischief: async () => {
      await armed(join(tree, 'ignored/store'));
      await rm(join(tree, '.git'));
      await symlink(join(tree, 'ignored/store/.git'), join(tree, '.git'));
    },
    files: [],
  },
  {
    name: 'a nested bare repository with its worktree around it',
    mischief: async () => {
      await armed(join(tree, 'bare'));
      execFileSync('mv', [join(tree, 'bare/.git'), join(tree, 'bare/store')]);
      await git(join(tree, 'bare/store'), 'config', 'core.worktree', join(tree, 'bare'));
      await writeFile(join(tree, 'bare/.git'), 'gitdir: store\n');
    },
  },
  {
    name: 'a repository made around tracked files',
    mischief: async () => {
      await armed(join(tree, 'src'));
      await appendFile(join(tree, 'src/a.txt'), 'more\n');
    },
    files: ['src/a.txt', 'src/inner.txt'],
  },
  {
    name: 'a tracked file replaced by a repository',
    mischief: async () => {
      await rm(join(tree, 'README.md'));
      await armed(join(tree, 'README.md'));
    },
    files: ['README.md'],
  },
];

/** All git operations of the daemon for a task, roughly in order. */
async function everything(): Promise<string[]> {
  const { workspace } = bed;
  await workspace.lookAtWork(task, 100_000);
  await workspace.snapshot(task, 'before');
  const { files, commit } = await workspace.capture(task, 'Work\n');
  await workspace.lookAtWork(task, 100_000);
  await workspace.open(task);
  await workspace.capture(task, 'Work again\n');
  await workspace.diff(task, 100_000);
  await write(bed.root, { 'other.txt': 'other\n' });
  await git(bed.root, 'add', 'other.txt');
  await git(bed.root, 'commit', '-q', '-m', 'other');
  await workspace.restore(task, 'put back');
  await workspace.mergeTarget(task);
  await workspace.capture(task, 'Merged\n');
  const candidate = await workspace.candidate(task);
  if (candidate.kind === 'clean') {
    const sealed = await workspace.seal(task, candidate, 'Land\n');
    const shown = await workspace.checkOut(sealed);
    expect(await shown.changes()).toEqual([]);
    await shown.close();
    expect(await workspace.land(sealed, candidate.base)).toEqual({ kind: 'landed' });
    await workspace.lookAtCommit(sealed, 100_000);
    const entries = (await git(bed.root, 'ls-tree', '-r', '-z', 'main')).split('\0');
    const links = entries.filter((entry) => entry.startsWith('160000'));
    expect(links.filter((entry) => !entry.endsWith('\tvendor/lib'))).toEqual([]);
  }
  await workspace.remove(task);
  expect(await workspace.leaks([])).toEqual([]);
  expect(commit).toMatch(/^[0-9a-f]{40}$/);
  return files;
}

describe('code that an agent plants for a git that runs later', () => {
  it.each(CASES)('is not run: $name', async ({ before, mischief, files }) => {
    await before?.();
    tree = (await bed.workspace.open(task)).path;
    await mischief();
    expect(existsSync(canary), 'the mischief itself must not touch the canary').toBe(false);
    const captured = await everything();
    expect(existsSync(canary)).toBe(false);
    if (files) expect(captured).toEqual(expect.arrayContaining(files));
    if (files?.length === 0) expect(captured.filter((path) => path.startsWith('vendor'))).toEqual([]);
  });
});
