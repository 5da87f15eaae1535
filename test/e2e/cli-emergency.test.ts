import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FleetBed, NEEDS_PROC } from '../support/fleet-bed.ts';
import { until } from '../support/until.ts';

/** Between the program and the daemon: requests that match get no answer. */
let silent: RegExp = /^$/;
let bed: FleetBed;
let proxy: Server;

beforeEach(({ skip }) => skip(process.platform !== 'linux', NEEDS_PROC));
beforeAll(async () => {
  bed = new FleetBed();
  let daemonPort = 0;
  proxy = createServer((client) => {
    const daemon = connect(daemonPort, '127.0.0.1');
    client.on('data', (chunk) => {
      if (!silent.test(chunk.toString('latin1'))) daemon.write(chunk);
    });
    daemon.pipe(client);
    for (const socket of [client, daemon]) {
      socket.on('error', () => [client, daemon].map((each) => each.destroy()));
      socket.on('close', () => [client, daemon].map((each) => each.destroy()));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const { url } = await bed.machine.up(bed.root, '--allow-host', `127.0.0.1:${port}`);
  daemonPort = Number(new URL(url).port);
  const file = join(bed.machine.data, 'daemon.json');
  const known = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...known, url: `http://127.0.0.1:${port}` }));
});
afterAll(async () => {
  await bed.close();
  proxy.close();
});

test('an emergency stop works although the daemon cannot say what it would stop', async () => {
  await bed.begun(await bed.add('One, stubborn'));
  silent = /^GET \/v1\/emergency /;
  const asked = await bed.run('stop', '--emergency');
  expect(asked.stderr.replaceAll('\n', ' ')).toContain('The running agents cannot be listed now.');
  expect(await bed.json('stop', '--emergency', '--yes')).toMatchObject({ tasks: [1], forced: null });
  expect(await bed.agents()).toEqual([]);
});

test('an emergency stop kills a daemon that does not stop its agents, and names the person in the log', async () => {
  silent = /^$/;
  await bed.run('resume');
  await until(async () => (await bed.agents()).length > 0);
  silent = /^POST \/v1\/emergency /;
  const { forced } = await bed.json<{ forced: { pid: number } }>('stop', '--emergency', '--yes');
  expect(forced.pid).toBeGreaterThan(0);
  expect(await bed.agents()).toEqual([]);
  const [, audit] = await bed.events('emergency.executed');
  expect(audit?.body).toMatchObject({ operation: 'emergency_stop', by: { name: 'ada' } });
});
