import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Mill, startMill } from './mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { changeOf, git } from './repository.ts';
import { row, type Section } from './row.ts';
import { timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const TASKS = 10;
const BATCH = 5;

/** Ten tasks that wait to be merged behind a slow gate, in batches and one at a time; and a push that is rejected. */
export async function run(options: BenchOptions): Promise<Section> {
  const seconds = sized(options, 10, 2);
  const slow = `sleep ${seconds}`;
  // The eighth task fails together with the third, until its agent has adapted it.
  const bad = `${slow}; test ! -e change-3.js -o ! -e change-8.js -o -e change-8b.js`;
  return inTemporaryFolder(async (folder) => {
    const landAll = (name: string, gate: string, batch: number) => mergeTen(join(folder, name), gate, batch);
    const good = { batch: await landAll('good', slow, BATCH), single: await landAll('good-single', slow, 1) };
    const mixed = { batch: await landAll('mixed', bad, BATCH), single: await landAll('mixed-single', bad, 1) };
    const again = await rejectedPush(join(folder, 'rejected'), slow, seconds * 1000);
    const rate = (ms: number) => (TASKS * 60_000) / ms;
    const figure = (name: string, ms: { batch: number; single: number }, ratioAtLeast: number) =>
      row({
        name,
        value: rate(ms.batch),
        unit: '/min',
        peer: { name: 'one at a time', value: rate(ms.single) },
        target: { ratioAtLeast },
      });
    return {
      name: 'merging',
      title: `Ten tasks wait to be merged, the gate takes ${seconds} s`,
      rows: [
        figure(`landed in batches of ${BATCH}, all good`, good, 3),
        figure(`landed in batches of ${BATCH}, one in ten bad`, mixed, 1.5),
        row({
          name: 'a rejected push landed again, beside its gates',
          value: again,
          unit: 'ms',
          target: { atMost: 5000 },
        }),
      ],
      notes: [
        'From the moment when all ten wait until all ten have landed. The bad one fails only together with another; it is sent back, adapted and landed within that time.',
        'Somebody else pushes while the gate runs: fetched, taken in, proven again and pushed. The two runs of the gate are subtracted.',
      ],
    };
  });
}

async function mergeTen(folder: string, gate: string, batch: number): Promise<number> {
  await mkdir(folder, { recursive: true });
  const mill = await startMill(folder, TASKS, { gate, batch });
  try {
    await mill.merge('paused');
    for (let task = 0; task < TASKS; task += 1) await mill.add();
    await mill.until('merge', TASKS);
    return await timed(async () => {
      await mill.merge('running');
      await mill.until('done', TASKS);
    });
  } finally {
    await mill.close();
  }
}

async function rejectedPush(folder: string, gate: string, gateMs: number): Promise<number> {
  await mkdir(folder, { recursive: true });
  const remote = join(folder, 'remote.git');
  const mill: Mill = await startMill(folder, 2, { gate, remote });
  const other = join(folder, 'other');
  try {
    await git(folder, 'clone', '-q', remote, other);
    const push = async () => {
      await git(other, 'pull', '-q', 'origin', 'main');
      // Another tree, so that the gates must run again.
      await changeOf(other, 'theirs');
      await git(other, 'add', '-A');
      await git(other, 'commit', '-q', '-m', 'Theirs');
      await git(other, 'push', '-q', 'origin', 'HEAD:main');
    };
    await mill.merge('paused');
    for (let task = 0; task < 2; task += 1) await mill.add();
    await mill.until('merge', 2);
    // The first lands at once. The second is proven on the new target, and the push comes meanwhile.
    const took = await timed(async () => {
      await mill.merge('running');
      await mill.until('done', 1);
      await delay(gateMs / 2);
      await push();
      await mill.until('done', 2);
    });
    return took - 2 * gateMs;
  } finally {
    await mill.close();
  }
}
