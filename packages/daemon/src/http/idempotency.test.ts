import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { IdempotentResponses } from './idempotency.ts';

let served: ServedDaemon;
beforeAll(async () => {
  served = await ServedDaemon.start();
});
afterAll(() => served.close());

const tasks = () => `/v1/projects/${served.project}/tasks`;
const post = (path: string, body: unknown, key: string) =>
  served.ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'idempotency-key': key } });
const numberOf = (answer: { text: string }) => JSON.parse(answer.text).number as number;

describe('a task sent twice under one key', () => {
  const task = { title: 'Only once', body: '- [ ] it is there', accept: ['one'], files: ['src/**'], priority: 1 };

  test('is made once: at once, later, and after a restart', async () => {
    const both = await Promise.all([post(tasks(), task, 'k-1'), post(tasks(), task, 'k-1')]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(numberOf(both[0]!)).toBe(numberOf(both[1]!));
    await served.api.editTask({ project: served.project, task: numberOf(both[0]!), title: 'Edited meanwhile' });
    await served.restart();
    const again = await post(tasks(), task, 'k-1');
    expect(JSON.parse(again.text)).toMatchObject({ number: numberOf(both[0]!), title: 'Edited meanwhile' });
    expect(numberOf(await post(tasks(), task, 'k-2'))).not.toBe(numberOf(again));
  });

  test.each([
    ['title', { title: 'Another' }],
    ['criteria', { accept: ['two'] }],
    ['files', { files: [] }],
    ['pipeline', { pipeline: 'feature' }],
  ])('is refused with another %s, and says why', async (_, change) => {
    await post(tasks(), task, 'k-3');
    const { status, text } = await post(tasks(), { ...task, ...change }, 'k-3');
    expect(status).toBe(409);
    expect(JSON.parse(text).error).toMatchObject({ code: 'conflict', message: expect.stringContaining('k-3') });
  });

  test('is made once as a whole list too; another list under its key is refused', async () => {
    const list = { tasks: [{ title: 'B', after: ['a'] }, { key: 'a', title: 'A' }, { title: 'C' }] };
    const path = `${tasks()}/import`;
    const both = await Promise.all([post(path, list, 'list'), post(path, list, 'list')]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.parse(both[1]!.text)).toEqual(JSON.parse(both[0]!.text));
    await served.restart();
    expect(JSON.parse((await post(path, list, 'list')).text)).toEqual(JSON.parse(both[0]!.text));
    for (const other of [list.tasks.slice(0, 2), [...list.tasks.slice(0, 2), { title: 'D' }]])
      expect((await post(path, { tasks: other.map((each) => ({ ...each })) }, 'list')).status).toBe(409);
  });

  test('is made once by the typed client as well', async () => {
    const given = { project: served.project, title: 'By the client' };
    const [one, two] = await Promise.all([
      served.api.addTask(given, undefined, { idempotencyKey: 'c-1' }),
      served.api.addTask(given, undefined, { idempotencyKey: 'c-1' }),
    ]);
    expect(one.number).toBe(two.number);
  });
});

describe('other calls under a key', () => {
  test('get the answer of the first; another body is refused, and a failure may be tried again', async () => {
    const body = { name: 'robot', role: 'worker' };
    const both = await Promise.all([post('/v1/tokens', body, 't'), post('/v1/tokens', body, 't')]);
    expect(both[0]!.status).toBe(200);
    expect(both[1]!.text).toBe(both[0]!.text);
    expect((await post('/v1/tokens', { ...body, role: 'admin' }, 't')).status).toBe(409);
    expect((await post('/v1/tokens', body, 'other')).status).toBe(409);
    await served.api.revokeToken({ name: 'robot' });
    expect((await post('/v1/tokens', body, 'other')).status).toBe(200);
  });

  test('of two callers with the same key are kept apart', async () => {
    const { token } = await served.api.addToken({ name: 'second', role: 'admin' });
    const add = (name: string, headers: Record<string, string>) =>
      served.ask('/v1/tokens', {
        method: 'POST',
        body: JSON.stringify({ name, role: 'viewer' }),
        headers: { 'idempotency-key': 'shared', ...headers },
      });
    expect((await add('one', {})).status).toBe(200);
    expect((await add('two', { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test('a task is made for each caller that sends it under the same key, also for a new token of an old name', async () => {
    const first = await served.api.addToken({ name: 'third', role: 'operator' });
    const add = async (title: string, token?: string) =>
      served.ask(tasks(), {
        method: 'POST',
        body: JSON.stringify({ title }),
        headers: { 'idempotency-key': 'mine', ...(token && { authorization: `Bearer ${token}` }) },
      });
    const own = await add('By the daemon’s own token');
    const other = await add('By the third', first.token);
    expect([own.status, other.status]).toEqual([200, 200]);
    expect(numberOf(other)).not.toBe(numberOf(own));
    expect(numberOf(await add('By the third', first.token))).toBe(numberOf(other));
    await served.api.revokeToken({ name: 'third' });
    const second = await served.api.addToken({ name: 'third', role: 'operator' });
    const again = await add('By the third', second.token);
    expect(numberOf(again)).not.toBe(numberOf(other));
    const list = (token: string) =>
      served.ask(`${tasks()}/import`, {
        method: 'POST',
        body: JSON.stringify({ tasks: [{ title: token.slice(-8) }] }),
        headers: { 'idempotency-key': 'list-of-mine', authorization: `Bearer ${token}` },
      });
    expect((await list(served.token)).status).toBe(200);
    expect((await list(second.token)).status).toBe(200);
  });

  test.each(['', ' ', 'a b', 'x'.repeat(201)])('are refused with the invalid key "%s"', async (key) => {
    const { status, text } = await post('/v1/tokens', { name: 'never', role: 'viewer' }, key);
    expect(status).toBe(400);
    expect(text).toContain('Idempotency-Key');
  });
});

test('kept answers stay within the limit, and those of calls under way are always kept', async () => {
  const repeats = new IdempotentResponses(() => 0);
  const once = (key: string, act: () => Promise<string>) => repeats.once({ caller: '', key }, key, act);
  const slow = Promise.withResolvers<string>();
  const first = once('slow', () => slow.promise);
  const long = 'x'.repeat(1_000_000);
  for (let count = 0; count < 20; count += 1) await once(`key ${count}`, async () => long);
  const again = async () => 'again';
  expect(await once('key 0', again)).toBe('again');
  expect(await once('key 19', again)).toBe(long);
  slow.resolve('first');
  expect(await once('slow', again)).toBe('first');
  expect(await first).toBe('first');
});
