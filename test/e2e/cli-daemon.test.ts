import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ProjectStatus, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  root = repository.root;
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

describe('up', () => {
  test('--until-idle without tasks ends with 0 and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await machine.run(['up', '--until-idle'], root);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Tidemill is working on the mill: http:\/\/127\.0\.0\.1:\d+, pid \d+/);
    expect(existsSync(join(machine.data, 'daemon.json'))).toBe(false);
  });

  test('--until-idle ends with 1 when all remaining tasks wait for a person', async () => {
    await machine.ask(root, (api, project) => api.addTask({ project, title: 'Nobody can do this' }));
    const { code, stdout } = await machine.run(['up', '--until-idle'], root);
    expect(code).toBe(1);
    expect(stdout).toContain('#1  blocked');
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(status.tasks).toEqual({ blocked: 1 });
    // In words, not with the code of the reason; and a log is not cut as a terminal is.
    const why = expect.stringMatching(/^the agent keeps failing: .*\. Tried /);
    expect(status.needsYou).toMatchObject([{ number: 1, command: 'tidemill task retry 1', why }]);
    expect(stdout).toMatch(/#1 {2}blocked, .*retry it with a note, or cancel it/);
    const shown = await machine.run(['status'], root);
    expect(shown.stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
  });

  test('--until-idle ends with 1 and names the command when a person holds all workers', async () => {
    expect((await machine.run(['up', '--until-idle'], root)).code).toBe(0);
    expect((await machine.run(['pause'], root)).code).toBe(0);
    expect((await machine.run(['up', '--until-idle'], root)).code).toBe(0);
    await machine.ask(root, (api, project) => api.addTask({ project, title: 'Nobody may begin this' }));
    const { code, stdout } = await machine.run(['up', '--until-idle'], root);
    expect(code).toBe(1);
    expect(stdout).toContain('All workers are paused or stopped, so no work starts. `tidemill resume` starts them.\n');
    expect(stdout).toContain('One thing needs you:\n  All workers are paused or stopped');
  });

  test('--json prints one line once ready; commands then go through the daemon; stop ends it, and no secret is in the log', async () => {
    const daemon = await machine.up(root, '--workers', '3');
    expect(daemon.pid).toBe(daemon.child.pid);
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(status).toMatchObject({ running: true, daemon: { pid: daemon.pid, url: daemon.url } });
    expect(status.workers.filter(({ role }) => role === 'builder')).toHaveLength(3);
    const added = await machine.json<TaskSummary>(['task', 'add', 'Through the daemon'], root);
    expect(added).toMatchObject({ number: 1, pipeline: 'quick' });
    expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toHaveLength(1);
    const { token } = JSON.parse(readFileSync(join(machine.data, 'daemon.json'), 'utf8')) as { token: string };
    expect((await machine.start(['stop'], root)).code).toBe(0);
    await daemon.ended;
    expect(daemon.child.exitCode).toBe(0);
    expect(existsSync(join(machine.data, 'daemon.json'))).toBe(false);
    expect((await machine.run(['stop'], root)).code).toBe(1);
    const log = readFileSync(join(machine.data, 'daemon.log'), 'utf8');
    expect(log).toContain('stopped');
    expect(log, 'no secret reaches the log').not.toContain(token);
  });

  test('a killed daemon leaves no lock: the next command works, and the next up, with at most ten workers', async () => {
    const daemon = await machine.up(root);
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    expect(existsSync(join(machine.data, 'daemon.json'))).toBe(true);
    expect((await machine.json<ProjectStatus>(['status'], root)).running).toBe(false);
    const next = await machine.run(['up', '--until-idle', '--workers', '50'], root);
    expect(next.code).toBe(0);
    expect(next.stderr, 'more than ten workers are capped').toContain('starting 10 instead of 50');
  });

  test('a port in use is reported', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { code, stderr } = await machine.run(['up', '--port', String(port)], root);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port} is used by another program`);
    expect(stderr).toContain('--port');
  });
});

describe('a second up on the same data folder', () => {
  test('is refused with pid and url for the same project, and joins the running daemon for another one', async () => {
    const daemon = await machine.up(root);
    const { code, stderr } = await machine.run(['up'], root);
    expect(code).toBe(1);
    expect(stderr).toContain(`pid ${daemon.pid}, ${daemon.url}`);
    const other = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    try {
      const joined = await machine.run(['up', '--until-idle', '--json'], other.root);
      expect(joined.code).toBe(0);
      expect(JSON.parse(joined.stdout)).toMatchObject({
        pid: daemon.pid,
        url: daemon.url,
        project: { root: other.root },
      });
      expect(await machine.json<ProjectStatus>(['status'], other.root)).toMatchObject({ running: true });
      expect(await machine.json<ProjectStatus>(['status'], root)).toMatchObject({ running: true });
      // A signal ends it as gracefully as a command does.
      daemon.child.kill('SIGTERM');
      await daemon.ended;
      expect(daemon.child.exitCode).toBe(0);
      expect(existsSync(join(machine.data, 'daemon.json'))).toBe(false);
    } finally {
      other.remove();
    }
  });

  test('of two that start at once for one project, the refused one names the other', async () => {
    const [first, second] = await Promise.allSettled([machine.up(root), machine.run(['up', '--until-idle'], root)]);
    if (second.status === 'rejected') throw second.reason;
    const { code, stderr } = second.value;
    // The daemon that ends when idle may end before the other one starts; then none is refused.
    if (first.status === 'rejected') {
      expect(String(first.reason)).toContain('a daemon already works on');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    } else if (code !== 0) {
      expect(code).toBe(1);
      expect(stderr).toContain(`pid ${first.value.pid}, ${first.value.url}`);
    }
  });
});
