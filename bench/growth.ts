import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres.ts';
import { fillPostgresText, fillSqlite } from './bulk.ts';
import { type BenchOptions, sized } from './options.ts';
import { Queue } from './queue.ts';
import { type Row, row, type Section } from './row.ts';
import { percentile, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const SMALLEST = '1k';
const SIZES: Record<string, number> = { '1k': 1000, '100k': 100_000, '1M': 1_000_000 };
const QUICK: Record<string, number> = { '1k': 1000, '20k': 20_000, '50k': 50_000 };

/** Does a claim stay as quick when the table grows? The smallest table is the peer. */
export async function run(options: BenchOptions): Promise<Section> {
  const sizes = options.quick ? QUICK : SIZES;
  return {
    name: 'growth',
    title: `Claim p99 as the table grows: ${Object.keys(sizes).join(', ')} tasks`,
    rows: [...(await onSqlite(options, sizes)), ...(await onPostgres(options, sizes))],
    notes: [
      'Six of ten tasks are ready, three done, one waits for another. One claim at a time, in turn over the three tables; the task is finished between two claims, outside the clock.',
    ],
  };
}

async function onSqlite(options: BenchOptions, sizes: Record<string, number>): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const queues: Record<string, Queue> = {};
    for (const [name, size] of Object.entries(sizes)) {
      const file = join(folder, `${name}.db`);
      queues[name] = await Queue.open(file, 1);
      fillSqlite(file, await queues[name].add(), size);
    }
    return measure('SQLite', options, queues);
  });
}

async function onPostgres(options: BenchOptions, sizes: Record<string, number>): Promise<Row[]> {
  const server = await startPostgres();
  try {
    const queues: Record<string, Queue> = {};
    for (const [name, size] of Object.entries(sizes)) {
      const schema = `bench_${name.toLowerCase()}`;
      queues[name] = await Queue.open(server.url, 1, schema);
      const client = new pg.Client({ connectionString: server.url, options: `-c search_path=${schema}` });
      await client.connect();
      for (const text of fillPostgresText(await queues[name].add(), size).split(';\n')) await client.query(text);
      await client.end();
    }
    return await measure('Postgres', options, queues);
  } finally {
    await server.stop();
  }
}

async function measure(database: string, options: BenchOptions, queues: Record<string, Queue>): Promise<Row[]> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(queues).map((name) => [name, []]));
  const tables = Object.entries(queues);
  for (let round = 0; round < sized(options, 580, 100); round += 1) {
    for (const [name, queue] of round % 2 === 0 ? tables : tables.toReversed()) {
      let claimed: Awaited<ReturnType<Queue['claim']>> = null;
      const ms = await timed(async () => {
        claimed = await queue.claim(0);
      });
      if (!claimed) throw new Error(`nothing is left to claim in the table of ${name}`);
      await queue.finish(claimed);
      // The first claims load pages and compile; they are the same everywhere and say nothing about growth.
      if (round >= 10) times[name]!.push(ms);
    }
  }
  for (const queue of Object.values(queues)) await queue.store.close();
  const largest = tables.at(-1)![0];
  return Object.entries(times).flatMap(([name, samples]) =>
    ([0.5, 0.99] as const).map((p) =>
      row({
        name: `${database}, ${name} tasks: ${p === 0.5 ? 'median' : 'p99'}`,
        value: percentile(samples, p),
        unit: 'ms',
        ...(name !== SMALLEST && {
          peer: { name: `itself at ${SMALLEST} tasks`, value: percentile(times[SMALLEST]!, p) },
        }),
        ...(name === largest && p === 0.99 && { target: { ratioAtMost: 2 } }),
      }),
    ),
  );
}
