import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { checkTarget } from './target-check.ts';

let repository: TemporaryRepository;
beforeEach(() => {
  repository = new TemporaryRepository();
});
afterEach(() => repository.remove());

test.each([
  ['echo "curl: Could not resolve host: files.example"; exit 6', 'The cause is the machine or the network'],
  ['echo "sh: 1: composer: not found"; exit 127', 'composer is not on the PATH of Tidemill'],
  ['cat vendor/lib/x.js', 'The submodule vendor/lib is empty in your checkout'],
  ['echo "2 errors"; exit 1', null],
])('a prepare step that fails with %s leads to the advice: %s', async (run, advice) => {
  const prepare = `prepare:\n  - run: ${JSON.stringify(run)}\n`;
  const modules = '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib\n';
  repository.write({ '.tidemill/config.yaml': `${QUIET_CONFIG}sandbox: off\n${prepare}`, '.gitmodules': modules });
  repository.git('add', '-A');
  repository.git('update-index', '--add', '--cacheinfo', `160000,${repository.git('rev-parse', 'HEAD')},vendor/lib`);
  repository.git('commit', '-qm', 'Config');
  const folder = openDataFolder({ TIDEMILL_HOME: join(repository.folder, 'data') });
  const { failures } = await checkTarget({ root: repository.root, folder, signal: AbortSignal.timeout(60_000) });
  expect(failures).toMatchObject([
    { name: 'prepare', advice: advice === null ? null : expect.stringContaining(advice) },
  ]);
});
