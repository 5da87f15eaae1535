import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type CrashingPostgres, startOwnPostgres } from '../support/postgres.ts';
import { newTrace, open, PROJECT, postgresPlace } from './store-bed.ts';

const isThere = inject('postgresUrl') !== '';
let server: CrashingPostgres | null = null;
const LAZY = ['-c', 'wal_writer_delay=10s', '-c', 'synchronous_commit=off', '-c', 'autovacuum=off'];
// What is not committed stays in memory, and is lost in a crash. So is a commit, where nobody asks for more than the server does.
beforeAll(async () => {
  if (isThere) server = await startOwnPostgres(...LAZY);
});
afterAll(() => server?.stop());

/** A way to the server that can be cut just before a commit gets there. */
async function openWay(url: string) {
  const to = Number(new URL(url).port);
  const all = new Set<Socket>();
  let onCommit: (() => Promise<void>) | null = null;
  let isOpen = true;
  const listener = createServer((near) => {
    if (!isOpen) return near.destroy();
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) {
      all.add(socket);
      socket.on('error', () => undefined).on('close', () => near.destroy() && far.destroy());
    }
    far.on('data', (chunk) => near.write(chunk));
    near.on('data', (chunk) => {
      if (!onCommit || !chunk.includes('append_events') || !chunk.includes('commit_batch')) return far.write(chunk);
      const cut = onCommit;
      onCommit = null;
      isOpen = false;
      void cut().then(() => {
        for (const socket of all) socket.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = new URL(url);
  address.port = String((listener.address() as AddressInfo).port);
  return {
    url: address.href,
    cutBeforeCommit: (then: () => Promise<void>) => {
      onCommit = then;
    },
    reopen: () => {
      isOpen = true;
    },
    close: () => listener.close(),
  };
}

test('a commit that a crash of Postgres undid is repeated, also when another commit got its number', {
  timeout: 120_000,
}, async (context) => {
  if (!server) return context.skip(true, 'no Postgres could be started');
  const { url, kill, start } = server;
  const place = await postgresPlace(url);
  const way = await openWay(url);
  const mill = await (await open({ ...place, url: way.url })).register();
  const other = await open(place);
  await other.create({ title: 'before' });
  const isDown = Promise.withResolvers<void>();
  way.cutBeforeCommit(async () => {
    await kill();
    isDown.resolve();
  });
  const doubtful = mill.create({ title: 'doubtful' });
  await isDown.promise;
  await start();
  for (let count = 0; count < 3; count++) await other.create({ title: `other ${count}` });
  way.reopen();
  const { id } = await doubtful;
  expect(await other.store.task(id)).toMatchObject({ title: 'doubtful' });
  expect(await other.store.tasks({ projectId: PROJECT })).toHaveLength(5);
  expect(await compareLogWithProjection(mill.store)).toEqual([]);
  await Promise.all([mill.store.close(), other.store.close()]);
  way.close();
});

test('two processes that write while Postgres is killed and started again lose nothing, and repeat nothing', {
  timeout: 300_000,
}, async (context) => {
  if (!server) return context.skip(true, 'no Postgres could be started');
  const { url, kill, start } = server;
  const place = await postgresPlace(url);
  const mill = await (await open(place)).register();
  const other = await open(place);
  const done = new AbortController();
  const written: string[] = [];
  const lanes = [mill, other].flatMap((each, process) =>
    [0, 1, 2].map(async (lane) => {
      for (let count = 0; !done.signal.aborted; count++) {
        const [id, key] = [`${process}-${lane}-${count}`, `key-${count % 40}`];
        const isWritten = await each.must(newTrace(id, key)).then(
          () => true,
          (error: { code?: string }) => {
            if (error.code === 'store_failed') return false; // the outage was too long for this call
            throw error;
          },
        );
        if (isWritten) written.push(`trace_${id}`);
      }
    }),
  );
  for (let round = 0; round < 10; round++) {
    const before = written.length;
    while (written.length < before + 30) await other.create();
    await kill();
    await start();
  }
  done.abort();
  await Promise.all(lanes);
  expect(await compareLogWithProjection(mill.store)).toEqual([]);
  const traces = await mill.store.records({ noun: 'trace', projectId: PROJECT, limit: 100_000 });
  const ids = new Set(traces.map(({ id }) => id));
  expect(written.filter((id) => !ids.has(id))).toEqual([]);
  expect(ids.size).toBe(traces.length);
  await Promise.all([mill.store.close(), other.store.close()]);
});
