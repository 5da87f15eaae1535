import { connect, type Socket } from 'node:net';
import { type RouteName, routes } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPasswd, pathOf, refusesNastyValues } from '../../../../test/support/bad-input-suite.ts';
import { ask, ServedDaemon } from '../../../../test/support/served-daemon.ts';
import type { Services } from '../handlers/context.ts';
import { startHttp } from './server.ts';

let served: ServedDaemon;
let task: number;
beforeAll(async () => {
  served = await ServedDaemon.start();
  task = (await served.api.addTask({ project: served.project, title: 'Something to be found' })).number;
});
afterAll(() => served.close());

describe('hostile input in a request', () => {
  refusesNastyValues(() => ({ served, task }), 10);

  test.each(['/v1/%2e%2e/%2e%2e/etc/passwd', '/v1/runs/..%2f..%2fetc%2fpasswd/log', '/docs/../../etc/passwd'])(
    'in an address that climbs leads nowhere: %s',
    async (path) => {
      const { status, text } = await served.ask(path);
      expect([400, 404]).toContain(status);
      expect(text).not.toMatch(isPasswd);
    },
  );

  test('in an address that is too long is refused before anything is read', async () => {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.write(`GET /v1/runs/${'x'.repeat(20_000)} HTTP/1.1\r\n`);
    expect(await toEnd(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe('the body of a request', () => {
  const tasks = () => `/v1/projects/${served.project}/tasks`;

  test('is refused when it is too large, and the connection ends', async () => {
    const { port } = new URL(served.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST ${tasks()} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${served.token}\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: 99999999\r\n\r\n{"title":"`);
    const text = await toEnd(socket);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('too_large');
  });

  test.each([
    ['half of it', '{"title":'],
    ['nested beyond reason', `${'{"title":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
    ['nested lists with a NUL inside', `{"accept":${'['.repeat(100_000)}"\\u0000"${']'.repeat(100_000)}}`],
    ['a NUL in a title', '{"title":"a\\u0000b"}'],
    ['a title that is none', '{"title":{"toString":"x"}}'],
    ['a title of blanks', '{"title":"   "}'],
    ['a title too long', JSON.stringify({ title: 'x'.repeat(301) })],
    ['a prototype', '{"title":"a","__proto__":{"priority":0}}'],
  ])('is refused in the case: %s', async (_, body) => {
    const { status, text } = await served.ask(tasks(), { method: 'POST', body });
    expect({ status, code: JSON.parse(text).error.code }).toEqual({ status: 400, code: 'bad_input' });
  });

  test('keeps letters that only look like a NUL', async () => {
    const made = await served.api.addTask({ project: served.project, title: 'Escape \\u0000 as such' });
    expect(made.title).toBe('Escape \\u0000 as such');
  });
});

describe('a client of the daemon', () => {
  const services = (): Services => {
    throw new Error('nobody came that far');
  };

  const start = async (limits: NonNullable<Parameters<typeof startHttp>[0]['limits']>) => {
    const http = await startHttp({
      port: 0,
      bind: { names: [], outer: null },
      token: 'secret',
      callerOf: async () => null,
      services,
      mcp: async () => undefined,
      onError: () => undefined,
      onChange: () => undefined,
      limits,
    });
    const { port, host } = new URL(http.url);
    return { http, port: Number(port), head: `host: ${host}\r\nauthorization: Bearer secret\r\n` };
  };

  test.each([
    ['with its head', 'GET /v1/health HTTP/1.1\r\n'],
    ['with its body', null],
  ])('that is slow %s is sent away', async (_, begun) => {
    const { http, port, head } = await start({
      headersTimeout: 300,
      requestTimeout: 300,
      connectionsCheckingInterval: 50,
    });
    const posted = `POST /v1/projects HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`;
    const socket = connect(port, '127.0.0.1');
    socket.write(begun ?? posted);
    // Nothing more is sent: only the server can end this.
    expect(await toEnd(socket)).toMatch(/^HTTP\/1\.1 408 /);
    await http.close();
  });

  test('that is slow with reading its answers is sent away', async () => {
    const { http, port, head } = await start({ timeout: 300 });
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    // It asks on and on: that the other end is gone, it hears when it writes.
    const asking = setInterval(() => socket.write(`GET /docs HTTP/1.1\r\n${head}\r\n`.repeat(20)), 5);
    await toEnd(socket);
    clearInterval(asking);
    await http.close();
  });

  test('is rejected above the maximum number of connections', async () => {
    const { http, port, head } = await start({ maxConnections: 2 });
    const enter = () => {
      const socket = connect(port, '127.0.0.1');
      const answered = new Promise<boolean>((resolve) => {
        socket.once('data', () => resolve(true));
        socket.once('error', () => resolve(false));
        socket.once('close', () => resolve(false));
      });
      socket.write(`GET /v1/none HTTP/1.1\r\n${head}\r\n`);
      return { socket, answered };
    };
    const [one, other] = [enter(), enter()];
    expect([await one.answered, await other.answered]).toEqual([true, true]);
    expect(await enter().answered).toBe(false);
    other.socket.destroy();
    one.socket.destroy();
    await http.close();
  });
});

function toEnd(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // A connection that is torn down has ended as well; what it said before counts.
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(text));
  return promise;
}

test('without a token every address but the notice is closed', async () => {
  for (const name of Object.keys(routes) as RouteName[]) {
    const { method } = routes[name];
    const { status } = await ask(served.url, pathOf(name, {}), { method });
    expect({ name, status }).toEqual({ name, status: 401 });
  }
});
