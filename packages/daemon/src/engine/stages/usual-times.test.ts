import type { EndedRun } from '@tidemill/contract';
import { expect, test } from 'vitest';
import type { Store } from '../../ports.ts';
import { UsualTimes } from './usual-times.ts';

const NOW = 1_000_000_000;
const run = (id: string, ms: number, endedAt: number, more: Partial<EndedRun> = {}): EndedRun => ({
  ...{ id, subjectId: 't', workerId: 'w', mode: 'implement', agent: 'a', attempt: 1, costUsd: null },
  ...{ outcome: 'pr_ready', failure: null, startedAt: endedAt - ms, endedAt },
  ...more,
});

function usual(runs: EndedRun[]) {
  const notes: string[] = [];
  const asked: number[] = [];
  let isBroken = false;
  const store = {
    runsEnded: async ({ after }: { after: number }) => {
      asked.push(after);
      if (isBroken) throw new Error('no disk');
      return runs.filter(({ endedAt }) => endedAt > after);
    },
  } as unknown as Store;
  const clock = { now: () => NOW, sleep: async () => undefined };
  const times = new UsualTimes({ store, clock, project: { id: 'p' }, onNote: (text) => notes.push(text) });
  return { times, notes, asked, breakStore: () => (isBroken = true) };
}

test('the usual time is the median of the last successful runs of the mode', async () => {
  const good = [40, 10, 30, 20].map((ms, index) => run(`r${index}`, ms, NOW - 1_000 + index));
  const others = [
    run('failed', 9_000, NOW - 500, { outcome: 'failed', failure: 'crash' }),
    run('asked', 9_000, NOW - 500, { outcome: 'needs_info' }),
    run('cut', 9_000, NOW - 500, { outcome: 'interrupted' }),
    run('plan', 9_000, NOW - 500, { mode: 'plan', outcome: 'plan_complete' }),
  ];
  const { times } = usual([...good, ...others]);
  expect(await times.of('implement')).toBe(25);
  expect(await times.of('plan')).toBe(null);
});

test('the usual time counts the newest twenty runs, reads each once, and is unknown with fewer than three', async () => {
  const runs = [run('a', 10, NOW - 900), run('b', 10, NOW - 800)];
  const { times, asked } = usual(runs);
  expect(await times.of('implement')).toBe(null);
  for (let index = 0; index < 20; index += 1) runs.push(run(`c${index}`, 1_000, NOW - 700 + index));
  expect(await times.of('implement')).toBe(1_000);
  expect(asked.at(-1)).toBe(NOW - 801);
  for (let index = 0; index < 20; index += 1) runs.push(run(`d${index}`, 50, NOW - 600 + index));
  expect(await times.of('implement')).toBe(50);
});

test('the usual time is unknown when the store fails', async () => {
  const { times, notes, breakStore } = usual([]);
  breakStore();
  expect(await times.of('implement')).toBe(null);
  expect(notes).toHaveLength(1);
});
