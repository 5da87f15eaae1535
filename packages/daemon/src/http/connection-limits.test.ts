import { connect, type Socket } from 'node:net';
import { STREAM_PATH } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';

let served: ServedDaemon;
const sockets: Socket[] = [];

beforeAll(async () => {
  served = await ServedDaemon.start();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await served.close();
});

const UPGRADE = ['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13'];

/** Sends one request and keeps the connection open. Resolves with the first line of the response. */
function request(token: string, path: string, headers: string[] = []): Promise<string> {
  const { port, host } = new URL(served.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  sockets.push(socket);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once('data', (data) => resolve(data.toString('utf8')));
  socket.once('error', reject);
  const lines = [`GET ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`, ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return promise;
}

const live = (token: string) =>
  request(token, STREAM_PATH, [...UPGRADE, `sec-websocket-key: ${Buffer.alloc(16, 1).toString('base64')}`]);
const statuses = async (answers: Promise<string>[]) => {
  const lines = (await Promise.all(answers)).map((answer) => Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]));
  return Object.fromEntries([101, 200, 429].map((status) => [status, lines.filter((line) => line === status).length]));
};
const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('a token with too many streams or connections is refused, and nobody else is', async () => {
  const { token: crowd } = await served.api.addToken({ name: 'crowd', role: 'viewer' });
  const { token: other } = await served.api.addToken({ name: 'other', role: 'viewer' });

  expect(await statuses(many(60, () => live(crowd)))).toEqual({ 101: 50, 200: 0, 429: 10 });
  expect(await live(crowd)).toContain('the token crowd has 50 streams open already');
  expect(await statuses(many(60, () => request(crowd, '/v1/whoami')))).toEqual({ 101: 0, 200: 50, 429: 10 });
  expect(await request(crowd, '/v1/whoami')).toContain('the token crowd has 100 connections open already');

  expect(await live(other)).toMatch(/^HTTP\/1.1 101/);
  expect(await statuses(many(60, () => live(served.token)))).toEqual({ 101: 60, 200: 0, 429: 0 });

  for (const socket of sockets) socket.destroy();
  await expect.poll(() => live(crowd)).toMatch(/^HTTP\/1.1 101/);
});
