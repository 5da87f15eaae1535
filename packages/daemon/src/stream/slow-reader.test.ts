import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, personActor } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { serveStreams } from '../../../../test/support/served-streams.ts';
import { StreamProbe } from '../../../../test/support/stream-probe.ts';
import { Daemon } from '../assembly/daemon.ts';
import type { Store } from '../ports.ts';
import { STREAM_LIMITS } from './limits.ts';

const TASKS_PER_IMPORT = 400;
const BODY = 'x'.repeat(20_000);

let home: string;
let repository: TemporaryRepository;
let daemon: Daemon;
let token: string;
let api: Api;
let project: string;
const file = () => join(home, 'store.db');

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-slow-'));
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).token;
  api = createClient({ url: daemon.info.url, token });
  project = (await api.registerProject({ root: repository.root })).id;
  // More than the buffers of both ends' kernels hold.
  for (let round = 0; round < 4; round += 1) {
    const task = (_: unknown, index: number) => ({ title: `Long ${index}`, body: BODY });
    await api.importTasks({ project, tasks: Array.from({ length: TASKS_PER_IMPORT }, task) });
  }
}, 120_000);
afterAll(async () => {
  await daemon.stop({ now: true });
  repository.remove();
  rmSync(home, { recursive: true });
});

describe('a reader that does not read', () => {
  test('is told how far it is behind, holds nobody up, and misses nothing once it reads', async () => {
    const [slow, quick] = [
      await StreamProbe.open(daemon.info.url, token),
      await StreamProbe.open(daemon.info.url, token),
    ];
    slow.socket.pause();
    slow.ask({ type: 'subscribe', project, after: 0, views: true });
    quick.ask({ type: 'subscribe', project });
    await quick.next('ready');
    const added = await api.addTask({ project, title: 'While one of them sleeps', accept: ['x'] });
    await quick.until(() => quick.seqs.length > 0);
    const { lastSeq } = await api.status({ project });
    slow.socket.resume();
    await slow.untilSeq(lastSeq);
    expect(slow.seqs).toEqual(Array.from({ length: lastSeq }, (_, index) => index + 1));
    expect((await slow.next('behind')).events).toBeGreaterThan(0);
    await slow.until(() => slow.of('behind').at(-1)!.events === 0);
    // What it looks at is whole as well: every task of the stretch it slept through.
    const tasks = () => new Set(slow.of('tasks').flatMap((message) => message.tasks.map(({ number }) => number)));
    await slow.until(() => tasks().size === added.number);
    slow.close();
    quick.close();
  }, 60_000);

  test('is sent away with its cursor when it reads nothing for too long', async () => {
    const patienceMs = 50;
    const full = Promise.withResolvers<void>();
    const limits = {
      ...STREAM_LIMITS,
      get patienceMs() {
        full.resolve();
        return patienceMs;
      },
    };
    const { url, store, close } = await serveStreams(file(), { limits });
    const asleep = await StreamProbe.open(url, '');
    asleep.socket.pause();
    asleep.ask({ type: 'subscribe', after: 0 });
    await full.promise;
    // Its own timer, in the same loop and set before this one, has run by then.
    await delay(patienceMs * 2);
    asleep.socket.resume();
    const { code, reason } = await asleep.closed;
    expect(code).toBe(4008);
    expect(Number(reason)).toBe(asleep.of('events').at(-1)!.cursor);
    expect(Number(reason)).toBeLessThan(await store.lastSeq());
    await close();
  }, 60_000);
});

describe('a connection to the stream', () => {
  test('whose token was revoked is closed', async () => {
    const welcome = { is: true };
    const { url, close } = await serveStreams(file(), {
      limits: { ...STREAM_LIMITS, pingMs: 20, welcomeMs: 20 },
      isWelcome: async () => welcome.is,
    });
    const client = await StreamProbe.open(url, '');
    client.ask({ type: 'subscribe' });
    // A sign of life that a page can see: an empty batch.
    expect((await client.next('events')).events).toEqual([]);
    welcome.is = false;
    expect((await client.closed).code).toBe(4401);
    await close();
  });

  test('that no longer answers is ended, and so is one that asks too much at once', async () => {
    const { url, sockets, close } = await serveStreams(file(), { limits: { ...STREAM_LIMITS, pingMs: 20 } });
    const dead = await StreamProbe.open(url, '');
    const gone = once(sockets[0]!, 'close');
    dead.socket.pause();
    await gone;
    dead.close();
    const greedy = await StreamProbe.open(url, '');
    for (let count = 0; count < 200; count += 1) greedy.ask({ type: 'subscribe', after: 0 });
    expect((await greedy.closed).code).toBe(1008);
    await close();
  });

  test('that asks and asks and never reads the answers is sent away, instead of being answered into memory', async () => {
    const [sent, length] = [500, 60_000];
    const all = Promise.withResolvers<void>();
    let heard = 0;
    const limits = {
      ...STREAM_LIMITS,
      fullBytes: 1000,
      /** Looked at for each message that arrives. */
      get requests() {
        heard += 1;
        if (heard === sent) all.resolve();
        return STREAM_LIMITS.requests;
      },
    };
    const { url, close } = await serveStreams(file(), { limits });
    const rude = await StreamProbe.open(url, '');
    rude.socket.pause();
    // What is wrong with it is told in its own words, which are long.
    for (let count = 0; count < sent; count += 1)
      rude.socket.send(JSON.stringify({ type: 'follow', run: 'x', ['k'.repeat(length)]: count }));
    await all.promise;
    rude.socket.resume();
    expect((await rude.closed).code).toBe(1008);
    expect(rude.of('refused').length).toBeLessThan(sent - STREAM_LIMITS.requests);
    await close();
  });
});

describe('the one reader of the log', () => {
  test('does not read all of it because somebody commits while it looks for the end', async () => {
    const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const from: number[] = [];
    const { url, store, close } = await serveStreams(file(), {
      limits: STREAM_LIMITS,
      wrap: (real) => ({
        ...real,
        async lastSeq() {
          const seq = await real.lastSeq();
          asked.resolve();
          await known.promise;
          return seq;
        },
        async events(query) {
          from.push(query.after ?? 0);
          return real.events(query);
        },
      }),
    });
    const end = await store.lastSeq();
    const client = await StreamProbe.open(url, '');
    client.ask({ type: 'subscribe', after: end });
    await asked.promise;
    await store.execute({ type: 'task.note', ...(await anyTask(store)), by: personActor('ada'), text: 'meanwhile' });
    // Its bell has rung by then: a timer without a delay, set before this one.
    await delay(50);
    known.resolve();
    await client.untilSeq(end + 1);
    expect(client.seqs).toEqual([end + 1]);
    expect(Math.min(...from)).toBe(end);
    await close();
  });

  test('that cannot begin keeps nobody waiting: they come back, and another one does', async () => {
    const both = Promise.withResolvers<void>();
    const errors: unknown[] = [];
    let isBroken = true;
    const { url, close } = await serveStreams(file(), {
      limits: STREAM_LIMITS,
      onError: (error) => errors.push(error),
      wrap: (real) => ({
        ...real,
        async lastSeq() {
          await both.promise;
          if (isBroken) throw new Error('no database');
          return real.lastSeq();
        },
      }),
    });
    const [one, other] = [await StreamProbe.open(url, ''), await StreamProbe.open(url, '')];
    both.resolve();
    expect((await one.closed).code).toBe(1011);
    expect((await other.closed).code).toBe(1011);
    expect(errors).toHaveLength(1);
    isBroken = false;
    const again = await StreamProbe.open(url, '');
    again.ask({ type: 'subscribe' });
    await again.next('ready');
    await close();
  });
});

async function anyTask(store: Store): Promise<{ projectId: string; taskId: string }> {
  const [task] = await store.tasks({ projectId: project, limit: 1 });
  return { projectId: project, taskId: task!.id };
}
