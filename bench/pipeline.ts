import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GIT_COMMANDS, landByHand } from './bare-git.ts';
import { type Mill, startMill } from './mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { makeRepository } from './repository.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

/** From a created task to its landed commit and removed worktree, against the same steps as bare git commands. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const mill = await startMill(join(folder, 'mill'), 1);
    const root = join(folder, 'bare', 'repository');
    const worktrees = join(folder, 'bare', 'worktrees');
    await makeRepository(root);
    await mkdir(worktrees);
    const oneTask = () => mill.complete();
    let number = 0;
    const byHand = () => landByHand(root, worktrees, ++number);
    const tasks = sized(options, 24, 5);

    for (let warm = 0; warm < 3; warm += 1) await oneTask().then(byHand);
    mill.meter.reset();
    const single = await interleaved(tasks, { tidemill: () => timed(oneTask), bare: () => timed(byHand) });
    const shares = mill.meter.shares(tasks);
    const batch = await interleaved(sized(options, 3, 1), {
      tidemill: async () => (await timed(() => manyTasks(mill, tasks))) / tasks,
      bare: async () => (await timed(() => manyByHand(byHand, tasks))) / tasks,
    });
    const processes = await countProcesses(folder, oneTask);
    await checkLanded(mill);
    await mill.close();

    const peer = 'the bare git commands';
    return {
      name: 'pipeline',
      title: 'Whole pipeline per task, with an agent that takes no time',
      rows: [
        row({
          name: 'one task at a time',
          value: median(single.tidemill),
          unit: 'ms',
          peer: { name: peer, value: median(single.bare) },
          target: { ratioAtMost: 1.4 },
        }),
        row({
          name: `${tasks} tasks at once, one worker`,
          value: median(batch.tidemill),
          unit: 'ms',
          peer: { name: `${peer}, one after another`, value: median(batch.bare) },
          target: { ratioAtMost: 1.4 },
        }),
        row({ name: 'git processes', value: processes, unit: '', peer: { name: peer, value: GIT_COMMANDS } }),
      ],
      notes: [
        'Pipeline quick, integrity gate only, SQLite store with fsync; a repository of 200 files. Both make a worktree, commit, squash onto main, move the checkout and clean up.',
        `Where a task's time goes, calls overlap: ${shares.slice(0, 10).join(', ')}.`,
      ],
    };
  });
}

async function manyTasks(mill: Mill, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => mill.complete()));
}

async function manyByHand(byHand: () => Promise<void>, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await byHand();
}

/** git writes one trace file per process when it is told to, which costs time: hence a task of its own. */
async function countProcesses(folder: string, oneTask: () => Promise<void>): Promise<number> {
  const traces = join(folder, 'traces');
  await mkdir(traces);
  process.env.GIT_TRACE2_EVENT = traces;
  try {
    await oneTask();
  } finally {
    delete process.env.GIT_TRACE2_EVENT;
  }
  return (await readdir(traces)).length;
}

/** Figures of work that was not done would be worth nothing. */
async function checkLanded(mill: Mill): Promise<void> {
  const files = (await readdir(mill.root)).filter((name) => name.startsWith('change-')).length;
  const landed = await mill.landed();
  if (landed === 0 || files !== landed) throw new Error(`${landed} tasks are done, but ${files} changes have landed`);
}
