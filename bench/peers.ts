import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { concurrently, timed } from './sample.ts';

/** A queue library. `drain` claims and completes jobs that do nothing and answers the milliseconds it took. */
export interface Peer {
  fill(count: number): Promise<void>;
  drain(count: number, claimers: number): Promise<number>;
  close(): Promise<void>;
}

const QUEUE = 'bench';

/** `fetch` of one job and `complete` of it, by N loops, the completion of one beside the fetch of the next. */
export async function startPgBoss(
  url: string,
  claimers: number,
): Promise<Peer & { fetchAll(claimers: number): Promise<number> }> {
  const boss = new PgBoss({
    connectionString: url,
    schema: 'bench_boss',
    // Some more than claimers, for completions beside fetches; Postgres allows a hundred in all.
    max: claimers + 8,
    supervise: false,
    schedule: false,
  });
  let isClosing = false;
  boss.on('error', (error) => {
    // Its connections may still be ending when the server already does.
    if (!isClosing) throw error;
  });
  await boss.start();
  await boss.createQueue(QUEUE);
  const fetchOne = async () => (await boss.fetch(QUEUE))[0];
  const drain = async () => {
    let job = await fetchOne();
    while (job) [, job] = await Promise.all([boss.complete(QUEUE, job.id), fetchOne()]);
  };
  return {
    fill: async (count) =>
      void (await boss.insert(
        QUEUE,
        Array.from({ length: count }, (_, n) => ({ data: { n } })),
      )),
    drain: (_count, lanes) => timed(() => Promise.all(Array.from({ length: lanes }, drain))),
    fetchAll: (lanes) => timed(() => concurrently(lanes, async () => (await fetchOne()) !== undefined)),
    async close() {
      isClosing = true;
      await boss.stop({ graceful: false });
    },
  };
}

/** Its own worker pool with N workers; each job is fetched, run and completed. The last job's end stops the clock. */
export async function startGraphile(url: string, claimers: number): Promise<Peer> {
  const logger = new Logger(() => () => undefined);
  const utils: WorkerUtils = await makeWorkerUtils({ connectionString: url, schema: 'bench_graphile', logger });
  await utils.migrate();
  return {
    fill: async (count) =>
      void (await utils.addJobs(Array.from({ length: count }, (_, n) => ({ identifier: QUEUE, payload: { n } })))),
    drain: (count, concurrency) => drainGraphile(url, count, concurrency, claimers, logger),
    close: async () => utils.release(),
  };
}

async function drainGraphile(url: string, count: number, concurrency: number, most: number, logger: Logger) {
  const { promise: lastEnd, resolve } = Promise.withResolvers<number>();
  let firstStart = 0;
  let done = 0;
  const runner = await run({
    connectionString: url,
    schema: 'bench_graphile',
    concurrency,
    maxPoolSize: most + 2,
    noHandleSignals: true,
    logger,
    taskList: { [QUEUE]: async () => undefined },
  });
  // Connecting and looking at its schema is not part of a claim.
  runner.events.on('job:start', () => {
    firstStart ||= performance.now();
  });
  runner.events.on('job:complete', () => {
    done += 1;
    if (done === count) resolve(performance.now());
  });
  const ms = (await lastEnd) - firstStart;
  await runner.stop();
  return ms;
}

/** A worker that waits for jobs, to time how soon one starts. */
export async function startGraphileWorker(
  url: string,
): Promise<{ startMs(): Promise<number>; close(): Promise<void> }> {
  let onStart: () => void = () => undefined;
  const runner = await run({
    connectionString: url,
    schema: 'bench_graphile',
    concurrency: 3,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    taskList: { [QUEUE]: async () => onStart() },
  });
  return {
    async startMs() {
      const { promise: started, resolve } = Promise.withResolvers<number>();
      onStart = () => resolve(performance.now());
      const startedAt = performance.now();
      await runner.addJob(QUEUE, {});
      return (await started) - startedAt;
    },
    close: () => runner.stop(),
  };
}
