import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { BareSqliteQueue } from './bare-sqlite.ts';
import { type BenchOptions, sized } from './options.ts';
import { startGraphile, startPgBoss } from './peers.ts';
import { PROJECT, Queue } from './queue.ts';
import { type Row, row, type Section } from './row.ts';
import { concurrently, interleaved, median, perSecond, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const CLAIMERS = [1, 8, 32];
const MOST = 32;
/** Many short rounds: what else the machine does then hits all of them alike. */
const ROUNDS = 11;
const BETTER = { ratioAtLeast: 1 };

export async function run(options: BenchOptions): Promise<Section> {
  return {
    name: 'claims',
    title: 'Claim throughput: 1, 8 and 32 claimers',
    rows: [...(await onPostgres(options)), ...(await onSqlite(options))],
    notes: [
      'claim + complete: Tidemill claims a task (lease, fence, events) and ends its only stage; pg-boss fetches one and completes it; graphile-worker drains no-op jobs with N workers, its clock from the first job on. In all three a claimer hands in one and asks for the next at once, as graphile-worker does by itself.',
      'claim only: Tidemill work.claim, pg-boss fetch. graphile-worker offers no claim without completion.',
      'All on one Postgres with fsync on, all from one process, rounds in turn, medians.',
    ],
  };
}

async function onPostgres(options: BenchOptions): Promise<Row[]> {
  const server = await startPostgres();
  const boss = await startPgBoss(server.url, MOST);
  const graphile = await startGraphile(server.url, MOST);
  // As many as claim without giving back, and one per lane for the claim that finds nothing.
  const most = countFor(options, MOST) + MOST;
  const queue = await Queue.open(server.url, most, 'bench_tidemill');
  const rows: Row[] = [];
  try {
    for (const claimers of CLAIMERS) {
      const count = countFor(options, claimers);
      const drained = await interleaved(sized(options, ROUNDS, 1), {
        tidemill: async () => {
          await queue.fill(count);
          return perSecond(count, await timed(() => drain(queue, claimers)));
        },
        boss: async () => {
          await boss.fill(count);
          return perSecond(count, await boss.drain(count, claimers));
        },
        graphile: async () => {
          await graphile.fill(count);
          return perSecond(count, await graphile.drain(count, claimers));
        },
      });
      const claimed = await interleaved(sized(options, ROUNDS, 1), {
        tidemill: async () => {
          await queue.fill(count);
          const ms = await timed(() => claimAll(queue, claimers));
          await finishAll(queue);
          return perSecond(count, ms);
        },
        boss: async () => {
          await boss.fill(count);
          return perSecond(count, await boss.fetchAll(claimers));
        },
      });
      const figure = { value: median(drained.tidemill), unit: '/s', target: BETTER };
      const name = `Postgres, ${claimers} claiming + completing`;
      rows.push(row({ ...figure, name, peer: { name: 'pg-boss', value: median(drained.boss) } }));
      rows.push(row({ ...figure, name, peer: { name: 'graphile-worker', value: median(drained.graphile) } }));
      rows.push(
        row({
          name: `Postgres, ${claimers} claiming only`,
          value: median(claimed.tidemill),
          unit: '/s',
          peer: { name: 'pg-boss fetch', value: median(claimed.boss) },
          target: BETTER,
        }),
      );
    }
  } finally {
    await queue.store.close();
    await graphile.close();
    await boss.close();
    await server.stop();
  }
  return rows;
}

async function onSqlite(options: BenchOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const queue = await Queue.open(join(folder, 'store.db'), MOST);
    const bare = new BareSqliteQueue(join(folder, 'bare.db'));
    const rows: Row[] = [];
    for (const claimers of CLAIMERS) {
      const count = countFor(options, claimers);
      const drained = await interleaved(sized(options, ROUNDS, 1), {
        tidemill: async () => {
          await queue.fill(count);
          return perSecond(count, await timed(() => drain(queue, claimers)));
        },
        bare: async () => {
          bare.fill(count, JSON.stringify(await queue.store.taskByNumber(PROJECT, 1)));
          return perSecond(count, await timed(() => concurrently(claimers, async () => bare.next())));
        },
      });
      rows.push(
        row({
          name: `SQLite, ${claimers} claiming + completing`,
          value: median(drained.tidemill),
          unit: '/s',
          peer: { name: 'two bare UPDATEs with fsync in node:sqlite', value: median(drained.bare) },
        }),
      );
    }
    bare.close();
    await queue.store.close();
    return rows;
  });
}

function countFor(options: BenchOptions, claimers: number): number {
  return sized(options, claimers === 1 ? 200 : 600, 200);
}

/** Each lane hands in its task and asks for the next at once: the store puts both into one transaction. */
async function drain(queue: Queue, claimers: number): Promise<void> {
  await Promise.all(
    Array.from({ length: claimers }, async (_, lane) => {
      let task = await queue.claim(lane);
      while (task) [, task] = await Promise.all([queue.finish(task), queue.claim(lane)]);
    }),
  );
}

/** A worker holds one task at a time, so each claim is another worker's; N of them are under way at any moment. */
async function claimAll(queue: Queue, claimers: number): Promise<void> {
  let next = 0;
  await concurrently(claimers, async () => (await queue.claim(next++)) !== null);
}

async function finishAll(queue: Queue): Promise<void> {
  const leased = await queue.store.leased(PROJECT);
  await Promise.all(leased.map((task) => queue.finish(task)));
}
