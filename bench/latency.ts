import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { startMill } from './mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { startGraphileWorker } from './peers.ts';
import { row, type Section } from './row.ts';
import { interleaved, percentile } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

/** From handing in a task to an idle engine until its agent is started, without the time the worktree takes. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const mill = await startMill(join(folder, 'mill'), 3);
    const server = await startPostgres();
    const graphile = await startGraphileWorker(server.url);
    const whole: number[] = [];
    const oneTask = async () => {
      const { promise: started, resolve } = Promise.withResolvers<number>();
      mill.onAgentStart = () => resolve(performance.now());
      mill.meter.reset();
      const startedAt = performance.now();
      const completed = mill.complete();
      const ms = (await started) - startedAt;
      whole.push(ms);
      const checkout = mill.meter.ms('workspace.open');
      await completed;
      return ms - checkout;
    };
    try {
      await oneTask();
      const times = await interleaved(sized(options, 60, 5), { tidemill: oneTask, graphile: () => graphile.startMs() });
      const figure = (p: number) => ({
        value: percentile(times.tidemill, p),
        unit: 'ms',
        peer: { name: 'graphile-worker, addJob to the start of a job', value: percentile(times.graphile, p) },
      });
      return {
        name: 'latency',
        title: 'Ready to agent start, engine idle',
        rows: [
          row({ name: 'median, without the worktree', ...figure(0.5), target: { atMost: 100 } }),
          row({ name: 'p99, without the worktree', ...figure(0.99) }),
          row({ name: 'median, worktree included', value: percentile(whole.slice(1), 0.5), unit: 'ms' }),
        ],
        notes: [
          'From before the call that creates the task: its commit, the claim, the start of the run and the prompt are in it. SQLite with fsync; the peer on Postgres.',
        ],
      };
    } finally {
      await graphile.close();
      await server.stop();
      await mill.close();
    }
  });
}
