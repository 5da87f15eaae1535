import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { killLeaked, leakScanObstacle } from '../process/leaks.ts';
import { checkTarget } from './target-check.ts';

let repository: TemporaryRepository;
let signs: string;
beforeEach(() => {
  repository = new TemporaryRepository();
  signs = join(repository.folder, 'signs');
  mkdirSync(signs);
});
afterEach(() => repository.remove());

test('a daemon that starts during the check of `init` does not end its gates', async ({ skip }) => {
  skip(leakScanObstacle !== null, leakScanObstacle ?? '');
  const gate = `echo > '${signs}/begun'; while [ ! -e '${signs}/go' ]; do sleep 0.02; done`;
  const config = QUIET_CONFIG.replace('run: "true"', `run: ${JSON.stringify(gate)}`);
  repository.write({ '.tidemill/config.yaml': `${config}sandbox: off\n` });
  repository.git('add', '-A');
  repository.git('commit', '-qm', 'Config');
  const folder = openDataFolder({ TIDEMILL_HOME: join(repository.folder, 'data') });
  const watcher = watch(signs);
  const begun = once(watcher, 'change');
  const checking = checkTarget({ root: repository.root, folder, signal: AbortSignal.timeout(60_000) });
  await begun;
  watcher.close();
  // What a daemon does first.
  expect(await killLeaked(folder.id)).toEqual([]);
  writeFileSync(join(signs, 'go'), '');
  expect(await checking).toMatchObject({ failures: [] });
});
