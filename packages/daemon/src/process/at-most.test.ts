import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atMost } from './at-most.ts';

test('atMost limits concurrency and keeps the order, also when calls fail', async () => {
  const turn = atMost(2);
  const [begun, ends]: [number[], (() => void)[]] = [[], []];
  const all = [0, 1, 2, 3, 4].map((each) =>
    turn(async () => {
      begun.push(each);
      await new Promise<void>((resolve) => (ends[each] = resolve));
      if (each === 1) throw new Error('it failed');
      return each;
    }),
  );
  const settled = Promise.allSettled(all);
  await setImmediate();
  expect(begun).toEqual([0, 1]);
  ends[1]!();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2]);
  for (const each of [0, 2, 3, 4]) {
    ends[each]!();
    await setImmediate();
  }
  expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await turn(async () => 'free again')).toBe('free again');
});
