import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const machine = new TidemillHome();
afterAll(() => machine.close());

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('npm run dev serves the page with hot reload, restarts the daemon on a change, and leaves nothing behind', async () => {
  const script = join(REPOSITORY, 'scripts', 'dev.ts');
  const child = spawn(process.execPath, [script, '--home', machine.data], {
    cwd: REPOSITORY,
    env: machine.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const find = async (pattern: RegExp): Promise<string> => {
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      const found = pattern.exec(next.value)?.[1];
      if (found) return found;
    }
    throw new Error(`npm run dev ended before it printed ${pattern}`);
  };
  try {
    const link = await find(/hot reload: (\S+)/);
    const origin = new URL(link).origin;
    const first = Number(await find(/daemon ready \(pid (\d+)\)/));

    await until(() => fetch(origin).then(Boolean, () => false));
    expect(await (await fetch(origin)).text()).toContain('/@vite/client');
    const opened = await fetch(link, { redirect: 'manual' });
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
    const projects = (from: string) => fetch(`${origin}/v1/projects`, { headers: { cookie, origin: from } });
    expect(await (await projects(origin)).json()).toMatchObject([{ name: 'sample' }]);
    expect((await projects('http://elsewhere.invalid')).status).toBe(403);
    const stream = new WebSocket(`${origin.replace('http', 'ws')}/v1/stream`, { origin, headers: { cookie } });
    await once(stream, 'open');
    stream.terminate();

    const now = new Date();
    utimesSync(join(REPOSITORY, 'packages', 'core', 'src', 'lesson', 'rate.ts'), now, now);
    const second = Number(await find(/daemon ready \(pid (\d+)\)/));
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
    // The same cookie: the page in the browser keeps working.
    expect((await projects(origin)).status).toBe(200);

    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(isAlive(second)).toBe(false);
    await expect(fetch(origin)).rejects.toThrow();
  } finally {
    child.kill('SIGKILL');
  }
}, 120_000);
