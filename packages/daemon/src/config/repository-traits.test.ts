import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { traitWarnings } from './repository-traits.ts';

let repository: TemporaryRepository;
const path = process.env.PATH;
beforeEach(() => {
  repository = new TemporaryRepository({ 'a.txt': 'a\n' });
  Object.assign(process.env, { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' });
});
afterEach(() => {
  process.env.PATH = path;
  repository.remove();
});

const installLfs = () => {
  writeFileSync(join(repository.folder, 'git-lfs'), '#!/bin/sh\n');
  chmodSync(join(repository.folder, 'git-lfs'), 0o755);
  process.env.PATH = `${repository.folder}:${path}`;
};

test('an ordinary repository has no warnings about its traits', async () => {
  expect(await traitWarnings(repository.root)).toEqual([]);
  repository.write({ '.gitattributes': '# *.bin filter=lfs\n*.txt text\n' });
  expect(await traitWarnings(repository.root)).toEqual([]);
});

test('a shallow clone says what is missing and how to get it', async () => {
  repository.git('commit', '-q', '--allow-empty', '-m', 'Second');
  const clone = join(repository.folder, 'shallow');
  repository.git('clone', '-q', '--depth', '1', `file://${repository.root}`, clone);
  expect(await traitWarnings(clone)).toEqual([expect.stringMatching(/shallow clone.*`git fetch --unshallow`/)]);
});

test('Git LFS that is missing or not set up says what happens to its files', async ({ skip }) => {
  const hasLfs = path?.split(':').some((folder) => folder !== '' && existsSync(join(folder, 'git-lfs')));
  skip(hasLfs === true, 'git-lfs is installed on this machine');
  repository.write({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
  const { root } = repository;
  expect(await traitWarnings(root)).toEqual([expect.stringMatching(/see pointer files.*; install git-lfs and run/)]);
  repository.git('config', 'filter.lfs.process', 'git-lfs filter-process');
  repository.git('config', 'filter.lfs.required', 'true');
  expect(await traitWarnings(root)).toEqual([expect.stringMatching(/no worktree can be opened; install git-lfs$/)]);
  installLfs();
  expect(await traitWarnings(root)).toEqual([]);
  const listed = 'ab12 * here.bin\nab13 - gone.bin\n';
  writeFileSync(join(repository.folder, 'git-lfs'), `#!/bin/sh\nprintf '${listed}'\n`);
  expect(await traitWarnings(root)).toEqual([expect.stringMatching(/not downloaded \(gone\.bin\).*`git lfs pull`/)]);
  repository.git('config', '--remove-section', 'filter.lfs');
  expect(await traitWarnings(root)).toEqual([expect.stringMatching(/see pointer files.*; run `git lfs install`$/)]);
});

test('a submodule that is not initialised is named, with the command that gets its files', async () => {
  const inner = new TemporaryRepository({ 'i.txt': 'i\n' });
  repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'lib/inner');
  repository.git('commit', '-q', '-m', 'Add a submodule');
  inner.remove();
  expect(await traitWarnings(repository.root)).toEqual([]);
  repository.git('submodule', '--quiet', 'deinit', '-f', 'lib/inner');
  expect(await traitWarnings(repository.root)).toEqual([
    expect.stringMatching(/empty for agents and gates: lib\/inner; `git submodule update --init --recursive`/),
  ]);
});
