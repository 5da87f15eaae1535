import { describe, expect, test } from 'vitest';
import { createIds, systemClock } from './clock.ts';

describe('ids', () => {
  test('ascend and never repeat, whatever the clock does', () => {
    let now = 1_700_000_000_000;
    const ids = createIds({ now: () => now });
    const made: string[] = [];
    for (const step of [0, 0, 1, -50_000, 0, 3_600_000]) {
      now += step;
      for (let count = 0; count < 1000; count++) made.push(ids.next('task'));
    }
    expect(new Set(made).size).toBe(made.length);
    expect(made.toSorted()).toEqual(made);
    expect(made[0]).toMatch(/^task_[0-9a-z]{18}$/);
  });

  test('of two processes at the same moment differ', () => {
    const clock = { now: () => 1_700_000_000_000 };
    const [one, two] = [createIds(clock), createIds(clock)];
    const made = Array.from({ length: 1000 }, () => [one.next('run'), two.next('run')]).flat();
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('sleep', () => {
  test('ends when its time is over, and at once when it is aborted', async () => {
    const before = performance.now();
    await systemClock.sleep(20);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
    const stop = new AbortController();
    const sleeping = systemClock.sleep(2 ** 40, stop.signal);
    stop.abort();
    await sleeping;
    await systemClock.sleep(60_000, stop.signal);
  });
});
