import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Api, StreamMessage, TaskSummary } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { openStream, type Stream, type StreamState } from '@tidemill/contract/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { Daemon } from '../assembly/daemon.ts';

let home: string;
let repository: TemporaryRepository;
let daemon: Daemon;
let token: string;
let api: Api;
let project: string;

async function startDaemon(): Promise<void> {
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).token;
  api = createClient({ url: daemon.info.url, token });
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-client-'));
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  await startDaemon();
  project = (await api.registerProject({ root: repository.root })).id;
});
afterAll(async () => {
  await daemon.stop({ now: true });
  repository.remove();
  rmSync(home, { recursive: true });
});

/** Something between the page and the daemon that may not know what a WebSocket is. */
async function startProxy() {
  const proxy = { letsUpgrade: false, token: '', url: '', close: async (): Promise<void> => undefined };
  const open = new Set<Duplex>();
  const headers = (given: NodeJS.Dict<string | string[]>) => ({
    ...given,
    host: new URL(daemon.info.url).host,
    authorization: `Bearer ${proxy.token}`,
  });
  const server = createServer((incoming, response) => {
    const outgoing = httpRequest(new URL(incoming.url ?? '/', daemon.info.url), {
      method: incoming.method,
      headers: headers(incoming.headers),
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.on('upgrade', (incoming, socket) => {
    socket.on('error', () => undefined);
    if (!proxy.letsUpgrade) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
      return;
    }
    const lines = Object.entries(headers(incoming.headers)).map(([name, value]) => `${name}: ${value}`);
    const upstream = connect(Number(new URL(daemon.info.url).port), '127.0.0.1');
    upstream.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    open.add(socket);
    upstream.pipe(socket).pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = async () => {
    server.closeAllConnections();
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return { proxy, cut };
}

/** A page, as far as the stream goes. */
class Page {
  readonly messages: StreamMessage[] = [];
  readonly states: StreamState[] = [];
  readonly stream: Stream;
  #onNews: () => void = () => undefined;

  constructor(url: string) {
    this.stream = openStream({
      url,
      api: createClient({ url }),
      open: (address) => new WebSocket(address),
      subscribe: { project, views: true },
      onMessage: (message) => {
        this.messages.push(message);
        this.#onNews();
      },
      onState: (state) => {
        this.states.push(state);
        this.#onNews();
      },
    });
  }
  async until(look: () => boolean): Promise<void> {
    while (!look()) await new Promise<void>((resolve) => (this.#onNews = resolve));
  }
  get seqs(): number[] {
    return this.messages.flatMap((message) => (message.type === 'events' ? message.events.map(({ seq }) => seq) : []));
  }
  get tasks(): TaskSummary[] {
    return this.messages.flatMap((message) => (message.type === 'tasks' ? message.tasks : []));
  }
}

test('without a WebSocket the client polls and says so, and goes live again by itself, without a loss', async () => {
  const { proxy, cut } = await startProxy();
  proxy.token = token;
  const add = (title: string) => api.addTask({ project, title, accept: ['x'] });
  const page = new Page(proxy.url);
  await page.until(() => page.states.at(-1) === 'polling' && page.stream.cursor !== null);
  const from = page.stream.cursor!;
  expect(page.states).toEqual(['connecting', 'polling']);
  const polled = await add('Seen by asking');
  await page.until(() => page.tasks.some(({ id }) => id === polled.id));
  expect(page.tasks.at(-1)).toEqual(polled);
  const isTold = (total: number) =>
    page.messages.some((message) => message.type === 'status' && message.status.total === total);
  await page.until(() => isTold(1));
  expect(page.stream.state).toBe('polling');

  proxy.letsUpgrade = true;
  await add('While it tries again');
  await page.until(() => page.stream.state === 'live');
  await add('Live');
  await page.until(() => page.tasks.some(({ title }) => title === 'Live') && isTold(3));

  // The connection breaks while things happen.
  cut();
  await add('While it was broken');
  await page.until(
    () => page.tasks.some(({ title }) => title === 'While it was broken') && page.stream.state === 'live',
  );
  expect(page.seqs).toEqual(Array.from({ length: 4 }, (_, index) => from + index + 1));

  // The daemon is gone, and another comes that has never heard of this page's token.
  await daemon.stop({ now: true });
  await page.until(() => page.stream.state === 'offline');
  await startDaemon();
  await page.until(() => page.stream.state === 'signed_out');
  await add('While it was outside');
  proxy.token = token;
  await page.until(() => page.tasks.some(({ title }) => title === 'While it was outside'));
  await page.until(() => page.stream.state === 'live');
  expect(page.seqs).toEqual(Array.from({ length: 5 }, (_, index) => from + index + 1));
  expect(page.messages.filter(({ type }) => type === 'refused')).toEqual([]);
  page.stream.close();
  await proxy.close();
}, 90_000);
