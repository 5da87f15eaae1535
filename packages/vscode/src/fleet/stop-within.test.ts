import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@tidemill/contract/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { previewOf, stopWithin } from './stop-within.ts';

const order = { by: 'ada', reason: 'smoke' };
const REPORT = { workers: ['agent-1'], tasks: [1], deliveries: [] };
let problems: unknown[] = [];
const note = (error: unknown) => void problems.push(error);
/** Requests that never get an answer. */
let silent: string[] = [];
const server = createServer((request, response) => {
  if (!silent.includes(request.method!)) response.end(JSON.stringify(REPORT));
});
let api: ReturnType<typeof createClient>;
beforeEach(async () => {
  problems = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  api = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('an emergency stop from the editor works although its preview hangs', async () => {
  silent = ['GET'];
  expect(await previewOf(api, note, 50)).toBeNull();
  expect(problems).toHaveLength(1);
  expect(await stopWithin(api, order, note)).toEqual(REPORT);
});

test('an emergency stop from the editor gives up a daemon that hangs, so that it can be killed', async () => {
  silent = ['GET', 'POST'];
  expect(await stopWithin(api, order, note, 50)).toBeNull();
  expect(problems).toHaveLength(1);
});
