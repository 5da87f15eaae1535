import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { personActor } from '@tidemill/contract';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, newTrace, open, PROJECT, postgresPlace } from './store-bed.ts';

const postgresUrl = inject('postgresUrl') ?? '';
const small = mountSmallDisk(6);

/** Another process would do the same: it has the file's lock, changes what a command reads, and commits. */
const WRITES_FOR_A_WHILE = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const db = new DatabaseSync(workerData);
  db.exec("BEGIN IMMEDIATE; UPDATE schema_version SET version = version");
  parentPort.postMessage('writing');
  setTimeout(() => db.exec('COMMIT'), 200);
  setInterval(() => undefined, 60_000);
`;

afterAll(() => {
  if (typeof small !== 'string') small.remove();
});

test('a store on a full disk refuses clearly, loses nothing, and works again once there is space', async (context) => {
  if (typeof small === 'string') return context.skip(true, small);
  const mill = await (await open({ url: join(small.folder, 'store.db'), schema: '' })).register();
  const filler = join(small.folder, 'filler');
  writeFileSync(filler, Buffer.alloc(3 << 20));
  const acknowledged: string[] = [];
  const body = 'x'.repeat(20_000);
  let refusal: unknown = null;
  for (let round = 0; round < 200 && !refusal; round++) {
    const settled = await Promise.allSettled([mill.create({ body }), mill.create({ body })]);
    for (const each of settled) {
      if (each.status === 'fulfilled') acknowledged.push(each.value.id);
      else refusal = each.reason;
    }
  }
  expect(refusal).toMatchObject({ code: 'disk_full', retriable: true });
  await expectKept(mill, acknowledged);
  rmSync(filler);
  acknowledged.push((await mill.create({ body })).id);
  await expectKept(mill, acknowledged);
  await mill.store.close();
});

test('a store path that cannot be opened is named', async () => {
  await expect(open({ url: '/proc/nowhere/store.db', schema: '' })).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('/proc/nowhere/store.db'),
  });
});

test('a store file that is not a database is refused and not changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-store-'));
  const path = join(folder, 'store.db');
  writeFileSync(path, 'These are my notes, not a database.\n'.repeat(100));
  const { size } = statSync(path);
  await expect(open({ url: path, schema: '' })).rejects.toMatchObject({ code: 'store_failed' });
  expect(statSync(path).size).toBe(size);
  rmSync(folder, { recursive: true });
});

test('a write on SQLite waits for another connection that writes, and follows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-store-'));
  const path = join(folder, 'store.db');
  const mill = await (await open({ url: path, schema: '' })).register();
  const other = new Worker(WRITES_FOR_A_WHILE, { eval: true, workerData: path });
  try {
    await once(other, 'message');
    // This thread stands still until the other one commits.
    const task = await mill.create();
    expect(await mill.store.tasks({ projectId: PROJECT })).toMatchObject([{ id: task.id }]);
  } finally {
    await other.terminate();
    await mill.store.close();
    rmSync(folder, { recursive: true });
  }
});

describe('trouble with Postgres', () => {
  beforeEach(({ skip }) => skip(postgresUrl === '', 'no Postgres could be started'));

  test('an unreachable address is a clear error', async () => {
    await expect(open({ url: 'postgres://nobody@127.0.0.1:9/none', schema: '' })).rejects.toMatchObject({
      code: 'store_failed',
      retriable: true,
    });
  });

  test('lost connections do not affect callers: every write is kept exactly once', { timeout: 60_000 }, async () => {
    const place = await postgresPlace(postgresUrl);
    const mill = await (await open(place)).register();
    const stop = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const event of mill.store.subscribe(0, {}, stop.signal)) {
        seen.push(event.seq);
        if (event.seq === 801) stop.abort();
      }
    })();
    const killer = new pg.Client(postgresUrl);
    await killer.connect();
    let acknowledged = 0;
    let killed = 0;
    const kill = async () => {
      const { rowCount } = await killer.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [`tidemill ${place.schema}`],
      );
      killed += rowCount ?? 0;
    };
    const writing = Promise.all(
      Array.from({ length: 8 }, async () => {
        const ids: string[] = [];
        for (let count = 0; count < 100; count++) {
          ids.push((await mill.create()).id);
          if (++acknowledged % 25 === 0) void kill();
        }
        return ids;
      }),
    );
    const ids = (await writing).flat();
    expect(killed).toBeGreaterThan(20);
    await expectKept(mill, ids);
    expect(await mill.store.lastSeq()).toBe(801);
    await following;
    expect(seen).toEqual(Array.from({ length: 801 }, (_, index) => index + 1));
    await killer.end();
    await mill.store.close();
    await place.remove();
  });

  test('two processes whose connections break while they write the same records lose none, and repeat none', {
    timeout: 60_000,
  }, async () => {
    const place = await postgresPlace(postgresUrl);
    const mill = await (await open(place)).register();
    const other = await open(place);
    const killer = new pg.Client(postgresUrl);
    await killer.connect();
    let written = 0;
    await Promise.all(
      [mill, other].flatMap((each, process) =>
        [0, 1, 2].map(async (lane) => {
          for (let count = 0; count < 60; count++) {
            await each.must(newTrace(`${process}-${lane}-${count}`, `key-${lane}-${count % 30}`));
            if (++written % 20 === 0)
              void killer.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
                `tidemill ${place.schema}`,
              ]);
          }
        }),
      ),
    );
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
    const patterns = await mill.store.records({ noun: 'pattern', projectId: PROJECT, limit: 1000 });
    expect(patterns.map(({ count }) => count)).toEqual(Array.from({ length: 90 }, () => 4));
    await killer.end();
    await other.store.close();
    await mill.store.close();
    await place.remove();
  });

  test('deadlocked batches are retried', { timeout: 60_000 }, async () => {
    const place = await postgresPlace(postgresUrl);
    const mill = await (await open(place)).register(4);
    const other = await open(place);
    // Two chains in opposite order: each batch holds a task whose dependent the other holds.
    const a = await mill.create({ taskId: 'task_a' });
    const d = await mill.create({ taskId: 'task_d' });
    const b = await mill.create({ taskId: 'task_b', dependsOn: [a.id] });
    const c = await mill.create({ taskId: 'task_c', dependsOn: [d.id] });
    const cancel = (by: Mill, taskId: string) =>
      by.must({ type: 'task.cancel', projectId: PROJECT, taskId, by: personActor('test') });
    await Promise.all([cancel(mill, a.id), cancel(mill, c.id), cancel(other, d.id), cancel(other, b.id)]);
    expect(await mill.store.workload(PROJECT)).toMatchObject({ byStage: { cancelled: 4 } });
    await other.store.close();
    await mill.store.close();
    await place.remove();
  });
});

async function expectKept(mill: Mill, ids: string[]): Promise<void> {
  const stored = (await mill.store.tasks({ projectId: PROJECT })).map((task) => task.id);
  expect(stored.toSorted()).toEqual(ids.toSorted());
  expect(await compareLogWithProjection(mill.store)).toEqual([]);
}

/** A disk that is soon full, or why there is none. */
function mountSmallDisk(megabytes: number): { folder: string; remove(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    return `no small disk can be mounted here (${String(error).split('\n')[0]})`;
  }
  return {
    folder,
    remove() {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
