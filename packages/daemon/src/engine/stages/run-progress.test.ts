import type { ProgressChange } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { RunProgressRecorder } from './run-progress.ts';

/** A clock that a test moves, and what was recorded. */
function recorder() {
  const records: ProgressChange[] = [];
  let now = 1_000_000;
  let wake: (() => void) | null = null;
  const clock = {
    now: () => now,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        wake = resolve;
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  const progress = new RunProgressRecorder(clock, (change) => records.push(change));
  return {
    progress,
    records,
    pass: async (ms: number) => {
      now += ms;
      wake?.();
      await Promise.resolve();
    },
  };
}
const step = (text: string, status: 'pending' | 'active' | 'done') => ({ text, status });

test('the percent of a run is the finished part of the to-do list, and null without one', () => {
  const { progress, records } = recorder();
  progress.take({ turns: { used: 1, limit: 50 }, tools: { used: 1, current: 'Bash: ls' } });
  progress.flush();
  progress.take({ todo: [step('read', 'done'), step('write', 'active'), step('test', 'pending')] });
  progress.flush();
  expect(records).toEqual([
    { percent: null, text: '', turns: { used: 1, limit: 50 }, tools: { used: 1, current: 'Bash: ls' } },
    {
      percent: 33,
      text: 'write',
      todo: [step('read', 'done'), step('write', 'active'), step('test', 'pending')],
    },
  ]);
});

test('the progress of a run is recorded at most once a second, only what changed, and the last report always', async () => {
  const { progress, records, pass } = recorder();
  progress.take({ percent: 1, text: 'a' });
  progress.take({ percent: 2 });
  progress.take({ percent: 3, text: 'c' });
  expect(records).toEqual([{ percent: 1, text: 'a' }]);
  await pass(1_000);
  expect(records.at(-1)).toEqual({ percent: 3, text: 'c' });
  progress.take({ percent: 3, text: 'c' });
  await pass(5_000);
  expect(records).toHaveLength(2);
  progress.take({ tools: { used: 9, current: null } });
  progress.take({ tools: { used: 10, current: null } });
  progress.flush();
  expect(records.at(-1)).toEqual({ percent: 3, text: 'c', tools: { used: 10, current: null } });
  await pass(5_000);
  expect(records).toHaveLength(4);
});

test('agents’ texts are plain, short lines without secrets, and their numbers are within bounds', () => {
  const { progress, records } = recorder();
  const key = `sk-${'a'.repeat(30)}`;
  progress.take({
    todo: Array.from({ length: 1_000 }, () => step(`use\u001b[31m ${key}\nnow`, 'active')),
    tools: { used: 1, current: `Bash: curl -H "Authorization: Bearer abc" ${'x'.repeat(1_000)}` },
    percent: 400,
  });
  const [record] = records;
  expect(record).toMatchObject({ percent: 100, text: 'use *** now' });
  expect(record?.todo).toHaveLength(100);
  expect(record?.tools?.current).toContain('Bearer ***');
  expect(record?.tools?.current?.length).toBeLessThanOrEqual(300);
});
