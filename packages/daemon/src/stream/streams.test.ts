import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { StreamProbe, streamUrl } from '../../../../test/support/stream-probe.ts';
import { Daemon } from '../assembly/daemon.ts';

let home: string;
const repositories: TemporaryRepository[] = [];
let daemon: Daemon;
let token: string;
let api: Api;
let project: string;
let other: string;
const probes: StreamProbe[] = [];

async function startDaemon(): Promise<void> {
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).token;
  api = createClient({ url: daemon.info.url, token });
}
async function register(): Promise<string> {
  const repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  repositories.push(repository);
  return (await api.registerProject({ root: repository.root })).id;
}
async function probe(): Promise<StreamProbe> {
  const opened = await StreamProbe.open(daemon.info.url, token);
  probes.push(opened);
  return opened;
}
const head = async () => (await api.status({ project })).lastSeq;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-stream-'));
  await startDaemon();
  project = await register();
  other = await register();
});
afterEach(() => {
  for (const each of probes.splice(0)) each.close();
});
afterAll(async () => {
  await daemon.stop({ now: true });
  for (const repository of repositories) repository.remove();
  rmSync(home, { recursive: true });
});

describe('access to the stream', () => {
  const refused: [name: string, headers: () => Record<string, string>, status: number, code: string][] = [
    ['no token', () => ({}), 401, 'unauthorized'],
    ['a wrong token', () => ({ authorization: 'Bearer nope' }), 401, 'unauthorized'],
    ['a wrong cookie', () => ({ cookie: `tidemill-${new URL(daemon.info.url).port}=nope` }), 401, 'unauthorized'],
    ['a rebound name', () => ({ authorization: `Bearer ${token}`, host: 'evil.example' }), 403, 'forbidden'],
    ['a foreign page', () => ({ authorization: `Bearer ${token}`, origin: 'https://evil.example' }), 403, 'forbidden'],
    ['a page without an origin', () => ({ authorization: `Bearer ${token}`, origin: 'null' }), 403, 'forbidden'],
  ];
  test.each(refused)('%s is refused', async (_, headers, status, code) => {
    expect(await StreamProbe.refusal(streamUrl(daemon.info.url), headers())).toEqual({ status, code });
  });
  test('is refused at another address', async () => {
    const url = streamUrl(daemon.info.url).replace('stream', 'events');
    expect(await StreamProbe.refusal(url, { authorization: `Bearer ${token}` })).toEqual({
      status: 404,
      code: 'not_found',
    });
  });
});

describe('a message to the stream', () => {
  const bad: [name: string, text: () => string, code: string, message: RegExp][] = [
    ['not JSON', () => '{"type":', 'bad_input', /not JSON/],
    ['a list', () => '[]', 'bad_input', /object/],
    ['nothing', () => '', 'bad_input', /not JSON/],
    ['an unknown request', () => '{"type":"dance"}', 'bad_input', /type/],
    ['an unknown key', () => `{"type":"subscribe","projekt":"${project}"}`, 'bad_input', /projekt/],
    ['a cursor below zero', () => '{"type":"subscribe","after":-1}', 'bad_input', /after/],
    ['a cursor that is no number', () => '{"type":"subscribe","after":"1"}', 'bad_input', /after/],
    ['an unknown type of event', () => '{"type":"subscribe","types":["task.exploded"]}', 'bad_input', /types/],
    ['an unknown project', () => '{"type":"subscribe","project":"nöpe/../x"}', 'no_project', /nöpe/],
    ['an unknown task', () => `{"type":"subscribe","project":"${project}","task":77}`, 'not_found', /#77/],
    ['a number without its project', () => '{"type":"subscribe","task":7}', 'not_found', /"7"/],
    ['views of no project', () => '{"type":"subscribe","views":true}', 'bad_input', /views/],
    ['an unknown run', () => '{"type":"follow","run":"../../etc/passwd"}', 'not_found', /passwd/],
  ];
  test('that is wrong is refused, and the connection goes on', async () => {
    const client = await probe();
    for (const [index, [, text, code, message]] of bad.entries()) {
      client.socket.send(text());
      const refused = await client.next('refused', index);
      expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
    }
    client.ask({ type: 'unfollow', run: 'nobody' });
    client.ask({ type: 'subscribe' });
    expect(await client.next('ready')).toEqual({ type: 'ready', cursor: await head() });
  });

  test('of more than 64 kB is not read', async () => {
    const client = await probe();
    client.socket.send(JSON.stringify({ type: 'follow', run: 'x'.repeat(70_000) }));
    expect((await client.closed).code).toBe(1009);
  });

  test('with a cursor beyond the end of the log begins at the end', async () => {
    const client = await probe();
    client.ask({ type: 'subscribe', after: 1_000_000_000 });
    expect((await client.next('ready')).cursor).toBe(await head());
  });
});

describe('events', () => {
  test('are chosen by project, task and type, and the choice can be changed', async () => {
    const [everything, mine, one, landed] = [await probe(), await probe(), await probe(), await probe()];
    const from = await head();
    const { number, id } = await api.addTask({ project, title: 'Mine', accept: ['It is'] });
    everything.ask({ type: 'subscribe', after: from });
    mine.ask({ type: 'subscribe', project, after: from });
    one.ask({ type: 'subscribe', project, task: number, after: from });
    landed.ask({ type: 'subscribe', types: ['task.moved'], after: from });
    await api.addTask({ project: other, title: 'Theirs', accept: ['It is'] });
    await api.cancelTask({ project, task: number });
    await api.addTask({ project, title: 'Another', accept: ['It is'] });
    const to = await head();
    await everything.untilSeq(to);
    await mine.untilSeq(to);
    expect(everything.seqs).toEqual(numbers(from, to));
    expect(new Set(mine.of('events').flatMap(({ events }) => events.map((event) => event.projectId)))).toEqual(
      new Set([project]),
    );
    expect(mine.seqs).toHaveLength(to - from - 1);
    const moved = await landed.until(() => landed.of('events').flatMap(({ events }) => events)[0]);
    expect(moved.body).toMatchObject({ type: 'task.moved', taskId: id });
    await one.until(() => one.seqs.length === 2);
    // The same connection, asked for something else: from now on.
    one.ask({ type: 'subscribe', project: other });
    await one.next('ready', 1);
    await api.addTask({ project, title: 'Not asked for', accept: ['It is'] });
    const { number: last } = await api.addTask({ project: other, title: 'Asked for', accept: ['It is'] });
    await one.until(() => one.of('events').at(-1)?.events.at(-1)?.projectId === other);
    expect(
      one
        .of('events')
        .at(-1)
        ?.events.map(({ body }) => 'number' in body && body.number),
    ).toEqual([last]);
  });

  test('are neither skipped nor repeated, whenever a reader comes, goes and comes again', async () => {
    const from = await head();
    const random = generator(5);
    const writing = { isOver: false };
    const write = async () => {
      for (let index = 0; index < 60; index += 1)
        await Promise.all([1, 2, 3].map((each) => api.addTask({ project, title: `${index}.${each}`, accept: ['x'] })));
      writing.isOver = true;
    };
    const read = async () => {
      const seen: number[] = [];
      for (let cursor = from; ; ) {
        const client = await probe();
        const goOn = Math.floor(random() * 40);
        client.ask({ type: 'subscribe', after: cursor });
        await client.until(() => client.seqs.length >= goOn || (writing.isOver && client.messages.length > 0));
        client.close();
        await client.closed;
        seen.push(...client.seqs);
        cursor = client.of('events').at(-1)?.cursor ?? cursor;
        if (writing.isOver && cursor >= (await head())) return seen;
      }
    };
    const [, ...readers] = await Promise.all([write(), ...Array.from({ length: 6 }, read)]);
    for (const seen of readers) expect(seen).toEqual(numbers(from, await head()));
  });

  test('go on where they were after a restart of the daemon', async () => {
    const before = await probe();
    const from = await head();
    before.ask({ type: 'subscribe', project, after: from });
    await before.next('ready');
    await api.addTask({ project, title: 'Before', accept: ['x'] });
    await before.untilSeq(from + 1);
    await daemon.stop({ now: true });
    expect(await before.closed).toEqual({ code: 4001, reason: 'the daemon stops' });
    await startDaemon();
    await api.addTask({ project, title: 'Between', accept: ['x'] });
    const after = await probe();
    after.ask({ type: 'subscribe', project, after: before.of('events').at(-1)!.cursor });
    await api.addTask({ project, title: 'After', accept: ['x'] });
    await after.untilSeq(await head());
    expect([...before.seqs, ...after.seqs]).toEqual(numbers(from, await head()));
  });
});

describe('views', () => {
  test('send the status and the tasks that changed by themselves, also what changed in between', async () => {
    const client = await probe();
    client.ask({ type: 'subscribe', project, views: true });
    const { status } = await client.next('status');
    expect(status).toEqual({ ...(await api.status({ project })), workers: status.workers });
    const added = await api.addTask({ project, title: 'Seen at once', accept: ['x'] });
    const tasks = await client.next('tasks');
    expect(tasks).toEqual({ type: 'tasks', project, tasks: [added] });
    await client.until(() => client.of('status').some((each) => each.status.total === status.total + 1));
    const { cursor } = client.of('events').at(-1)!;
    client.close();

    const missed = await api.addTask({ project, title: 'Missed', accept: ['x'] });
    await api.cancelTask({ project, task: missed.number });
    await api.addTask({ project: other, title: 'Not looked at', accept: ['x'] });
    const again = await probe();
    // The filter is about events; what is shown is whole.
    again.ask({ type: 'subscribe', project, views: true, after: cursor, types: ['task.blocked'] });
    const repaired = await again.next('tasks');
    expect(repaired.tasks.map(({ id, stage }) => [id, stage])).toEqual([[missed.id, 'cancelled']]);
    expect(again.seqs).toEqual([]);
    expect((await again.next('status')).status.lastSeq).toBe(await head());
  });
});

/** Numbers that look like chance and are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
