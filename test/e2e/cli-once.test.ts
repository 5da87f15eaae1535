import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
let proxy: Server;
/** How many more responses to a request that creates tasks get lost. */
let toLose = 0;
let daemonPort = 0;

beforeEach(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  proxy = createServer((client) => {
    const daemon = connect(daemonPort, '127.0.0.1');
    let isDoomed = false;
    client.on('data', (chunk) => {
      if (/^POST \S+\/tasks(\/import)? /.test(chunk.toString('latin1')) && toLose > 0) {
        toLose -= 1;
        isDoomed = true;
      }
      daemon.write(chunk);
    });
    daemon.on('data', (chunk) => (isDoomed ? client.destroy() : client.write(chunk)));
    for (const [one, other] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const { url } = await machine.up(repository.root, '--allow-host', `127.0.0.1:${port}`);
  daemonPort = Number(new URL(url).port);
  const file = join(machine.data, 'daemon.json');
  const known = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...known, url: `http://127.0.0.1:${port}` }));
});
afterEach(async () => {
  await machine.close();
  proxy.close();
  repository.remove();
});

test('a task whose response was lost is requested again, and created once', async () => {
  toLose = 1;
  const added = await machine.json<TaskSummary>(['task', 'add', 'Heard only the second time'], repository.root);
  expect(added.number).toBe(1);
  toLose = 1;
  repository.write({ 'tasks.yaml': '- { title: One }\n- { title: Two }\n' });
  const many = await machine.json<{ created: number }>(['task', 'add', '--from', 'tasks.yaml'], repository.root);
  expect(many.created).toBe(2);
  expect(toLose).toBe(0);
  const all = await machine.json<TaskSummary[]>(['task', 'list'], repository.root);
  expect(all.map(({ title }) => title)).toEqual(['Heard only the second time', 'One', 'Two']);
  toLose = 2;
  const { code, stderr } = await machine.run(['task', 'add', 'Never heard'], repository.root);
  expect({ code, said: stderr.includes('does not answer') }).toEqual({ code: 1, said: true });
});
