import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { reachDaemon } from '../../../packages/daemon/src/assembly/reach.ts';
import { patientConfig, raisedIn } from '../../support/hostile/patient-agent.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../cli-repository.ts';

describe('a daemon with many callers', () => {
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  let pid: number;
  let url: string;
  beforeAll(async () => {
    machine = new TidemillHome();
    repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    ({ pid, url } = await machine.up(repository.root));
  });
  afterAll(async () => {
    await machine.close();
    repository.remove();
  });

  test('1,000 connections without a token do not block other callers', { timeout: 60_000 }, async () => {
    const port = Number(new URL(url).port);
    const open = (): Socket => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      return socket;
    };
    const sockets = Array.from({ length: 1_200 }, open);
    try {
      await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
      for (const socket of sockets.slice(600)) socket.write('GET / HTTP/1.1\r\nHost: x');
      expect(await reachDaemon(machine.env)).toMatchObject({ daemon: { pid } });
      const { code, stderr } = await machine.run(['status'], repository.root);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('up --until-idle', () => {
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  beforeAll(() => {
    machine = new TidemillHome();
    repository = new TemporaryRepository();
  });
  afterAll(async () => {
    await machine.close();
    repository.remove();
  });

  test('ends when the budget is used up, but only after finished work has landed', async () => {
    const agent = `n=$(grep -o '"number":[0-9]*' | head -1 | tr -dc 0-9)
echo made > "made-$n.txt"
echo '{"tidemill":"usage","costUsd":9.5}'
echo '{"tidemill":"result","outcome":"pr_ready","summary":"made it"}'
`;
    repository.write({
      '.tidemill/config.yaml': `target: main
pipeline: quick
workers: 1
sandbox: off
budget: { dailyUsd: 10, monthlyUsd: 100 }
agents:
  default: { type: command, command: ["sh", "-c", ${JSON.stringify(agent)}] }
gates:
  - { name: test, run: "sleep 1" }
`,
    });
    repository.git('add', '-A');
    repository.git('commit', '-qm', 'Configure');
    for (const title of ['First', 'Second'])
      await machine.ask(repository.root, (api, project) => api.addTask({ project, title }));
    expect((await machine.run(['up', '--until-idle'], repository.root)).code).toBe(1);
    const { tasks } = await machine.ask(repository.root, (api, project) => api.status({ project }));
    expect(tasks).toEqual({ done: 1, open: 1 });
  });
});

describe('a Postgres that is unreachable for longer than a restart', () => {
  const url = inject('postgresUrl');
  const name = `faults_${process.pid}`;
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  /** A proxy between the daemon and the server, so that the server can be unreachable only for this daemon. */
  const passing = new Set<Socket>();
  let proxy: Server;
  const listen = async (port: number) => {
    const { hostname, port: there } = new URL(url);
    proxy = createServer((near) => {
      const far = connect(Number(there || 5432), hostname);
      for (const socket of [near, far]) {
        passing.add(socket);
        socket.on('error', () => undefined).on('close', () => passing.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
    proxy.listen(port, '127.0.0.1');
    await once(proxy, 'listening');
    return (proxy.address() as AddressInfo).port;
  };
  const cut = () => {
    proxy.close();
    for (const socket of passing) socket.destroy();
  };
  const onServer = async (sql: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  afterAll(async () => {
    if (url === '') return;
    await machine?.close();
    cut();
    repository?.remove();
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  test('does not fail running work: it continues within seconds', { timeout: 90_000 }, async (context) => {
    context.skip(url === '', 'no Postgres could be started');
    await onServer(`CREATE DATABASE ${name}`);
    const port = await listen(0);
    const address = new URL(url);
    Object.assign(address, { hostname: '127.0.0.1', port: String(port), pathname: `/${name}` });
    machine = new TidemillHome({ DATABASE_URL: address.href });
    repository = new TemporaryRepository();
    const go = join(repository.folder, 'go');
    repository.write({ '.tidemill/config.yaml': patientConfig(go) });
    repository.git('add', '-A');
    repository.git('commit', '-qm', 'Configure');
    await machine.up(repository.root);
    const api = machine.api();
    const project = (await api.projects({}))[0]!.id;
    await api.addTask({ project, title: 'Work on' });
    await machine.event('run.started');
    cut();
    // The agent ends while the store is unreachable.
    writeFileSync(go, '');
    await delay(12_000);
    await listen(port);
    const back = performance.now();
    await machine.event('merge.landed');
    expect(performance.now() - back).toBeLessThan(20_000);
    const { runs } = await api.task({ project, task: 1 });
    expect(runs.map(({ outcome }) => outcome)).toEqual(['pr_ready']);
  });
});

describe('a full disk', () => {
  let machine: TidemillHome;
  let repository: TemporaryRepository;
  beforeAll(() => {
    machine = new TidemillHome();
    repository = new TemporaryRepository();
    mkdirSync(machine.data);
  });
  afterAll(async () => {
    if (isMounted) execFileSync('umount', ['-l', machine.data]);
    await machine.close();
    repository.remove();
  });
  let isMounted = false;

  test('ends no process: one notice, work pauses, and continues when there is space', {
    timeout: 120_000,
  }, async (context) => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', machine.data], { stdio: 'ignore' });
      isMounted = true;
    } catch {
      context.skip(true, 'a small disk can only be made by root');
    }
    const go = join(repository.folder, 'go');
    repository.write({ '.tidemill/config.yaml': patientConfig(go) });
    repository.git('add', '-A');
    repository.git('commit', '-qm', 'Configure');
    const daemon = await machine.up(repository.root);
    await machine.run(['task', 'add', 'Make a file'], repository.root);
    await machine.event('run.started');
    const api = machine.api();
    const { number, id: project } = { number: 1, ...(await api.projects({}))[0]! };
    fill(join(machine.data, 'filler'));
    // Long enough for the agent's output to be flushed, and refused.
    await delay(2_500);
    writeFileSync(go, '');
    await expect(api.addTask({ project, title: 'No room for it' })).rejects.toMatchObject({ code: 'disk_full' });
    await delay(2_500);
    expect(daemon.child.exitCode).toBeNull();
    const doctor = await api.doctor({});
    expect(doctor.findings).toContainEqual(expect.objectContaining({ level: 'problem', check: 'disk' }));
    rmSync(join(machine.data, 'filler'));
    await machine.event('merge.landed');
    expect((await api.task({ project, task: number })).task).toMatchObject({
      stage: 'done',
      counters: { failures: {} },
    });
    expect(await raisedIn(machine, repository, 'disk_full')).toBe(1);
    await machine.event('alert.resolved', ({ kind }) => kind === 'disk_full');
    // It is in the log if there is space, otherwise on the terminal.
    const said = `${readFileSync(join(machine.data, 'daemon.log'), 'utf8')}${daemon.stderr()}`;
    expect(said).toMatch(/work is paused: There is no disk space|daemon\.log cannot be written/);
    expect(await api.addTask({ project, title: 'Room again' })).toMatchObject({ number: 2 });
  });

  function fill(file: string): void {
    const handle = openSync(file, 'w');
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        writeSync(handle, Buffer.alloc(size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
    closeSync(handle);
  }
});
