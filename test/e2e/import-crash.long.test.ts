import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const MANY = 5000;
const FIRST_WRITES = 64 * 1024;

test('an import whose daemon is killed during the write adds all or none, and is completed when repeated', {
  timeout: 120_000,
}, async () => {
  const tasks = Array.from({ length: MANY }, (_, index) => ({ title: `Task ${index}`, key: `k${index}` }));
  const key = { idempotencyKey: 'many' };
  const daemon = await machine.up(repository.root);
  const [project] = await machine.api().projects({ root: repository.root });
  const log = join(machine.data, 'store.db-wal');
  const before = statSync(log).size;
  const imported = machine.api().importTasks({ project: project!.id, tasks }, undefined, key);
  const outcome = imported.then(
    () => 'answered',
    () => 'lost',
  );
  await until(() => statSync(log).size > before + FIRST_WRITES);
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.ended;
  await outcome;

  await machine.up(repository.root);
  const count = async () => (await machine.api().status({ project: project!.id })).total;
  expect([0, MANY]).toContain(await count());
  const again = await machine.api().importTasks({ project: project!.id, tasks }, undefined, key);
  expect(again).toMatchObject({ created: MANY, first: 1, last: MANY });
  expect(await count()).toBe(MANY);
});
