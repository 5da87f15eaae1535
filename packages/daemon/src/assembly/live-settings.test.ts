import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { until } from '../../../../test/support/until.ts';
import { Daemon } from './daemon.ts';

let repository: TemporaryRepository;
let home: string;
let daemon: Daemon;
beforeEach(() => {
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  home = mkdtempSync(join(tmpdir(), 'tidemill-settings-'));
});
afterEach(async () => {
  await daemon.stop({ now: true });
  rmSync(home, { recursive: true, maxRetries: 5 });
  repository.remove();
});

test('an alert about settings is over when they are right again, also after a restart', async () => {
  const start = async () => {
    daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
    return (await daemon.attach(repository.root)).project.id;
  };
  const project = await start();
  const told = async () => {
    const waiting = await daemon.api.inbox({ project });
    return waiting.flatMap(({ title }) => (title.startsWith('config ') ? [title] : []));
  };
  const write = (config: string) => repository.write({ '.tidemill/config.yaml': config });
  const isTold = (...kinds: string[]) => until(async () => (await told()).join() === kinds.join());
  write('workers: [');
  await isTold('config invalid');
  write(`${QUIET_CONFIG}\nbudget: { dailyUsd: -5 }\n`);
  await isTold('config adjusted');
  write(QUIET_CONFIG);
  await isTold();
  repository.write({ '.tidemill/guards/mine.yaml': '- name: [\n' });
  await isTold('config invalid');
  await daemon.stop({ now: true });
  rmSync(join(repository.root, '.tidemill/guards'), { recursive: true });
  await start();
  await isTold();
});
