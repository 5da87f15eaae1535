import { join } from 'node:path';
import type { EngineDeps } from '../packages/daemon/src/engine/deps.ts';
import { Supervisor } from '../packages/daemon/src/engine/reactors/supervisor.ts';
import { fillSqlite } from './bulk.ts';
import { firstFigures } from './month.ts';
import { type BenchOptions, sized } from './options.ts';
import { Queue } from './queue.ts';
import { row, type Section } from './row.ts';
import { median, percentile, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const WORKERS = 10;

/** One look of the supervisor over ten workers and a long queue. */
export async function run(options: BenchOptions): Promise<Section> {
  const size = sized(options, 100_000, 5_000);
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const queue = await Queue.open(file, WORKERS);
    fillSqlite(file, await queue.add(), size);
    for (let worker = 0; worker < WORKERS; worker += 1) await queue.claim(worker);
    const [project] = await queue.store.projects();
    // Of the engine it needs the store and the time; nobody of this engine holds a task.
    const deps = { store: queue.store, project: project!, clock: { now: Date.now } } as unknown as EngineDeps;
    const supervisor = new Supervisor(deps, {
      slots: () => [],
      restingModes: () => [],
      isOverBudget: () => false,
      lookAtTarget: async () => undefined,
    });
    const times: number[] = [];
    for (let round = 0; round < sized(options, 40, 5); round += 1) times.push(await timed(() => supervisor.pass()));
    await queue.store.close();
    const { figuresMs, historyMs, heldUpMs } = await firstFigures(join(folder, 'month.db'), size);
    return {
      name: 'health',
      title: `A health check over ${WORKERS} workers and ${size.toLocaleString('en')} tasks`,
      rows: [
        row({ name: 'median', value: median(times), unit: 'ms', target: { atMost: 50 } }),
        row({ name: 'p99', value: percentile(times, 0.99), unit: 'ms' }),
        row({
          name: 'first figures of as many runs in a month',
          value: figuresMs,
          unit: 'ms',
          target: { atMost: 1000 },
        }),
        row({ name: 'first history of it', value: historyMs, unit: 'ms', target: { atMost: 1000 } }),
        row({ name: 'longest time others waited meanwhile', value: heldUpMs, unit: 'ms' }),
      ],
      notes: ['On SQLite. Once a minute in a running daemon.'],
    };
  });
}
