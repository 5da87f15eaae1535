import type { ReplayResult, ReplayRun } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meanOf, reportOf, shareOf, signTest } from './figures.ts';

const passed = (isFirstTry = true, costUsd: number | null = 0.1): ReplayResult => ({
  verdict: 'passed',
  tries: isFirstTry ? 1 : 2,
  isFirstTry,
  gates: [],
  why: '',
  runId: null,
  costUsd,
  tokens: 100,
  durationMs: 1000,
});
const failed = (): ReplayResult => ({ ...passed(false), verdict: 'failed' });
const none = (): ReplayResult => ({ ...passed(), verdict: 'void' });
const run = (
  taskId: string,
  variant: number,
  result: ReplayResult | null,
): Pick<ReplayRun, 'taskId' | 'variant' | 'result'> => ({ taskId, variant, result });

describe('a share', () => {
  test('has the interval of Wilson, and none without observations', () => {
    expect(shareOf(0, 0)).toBeNull();
    const half = shareOf(5, 10)!;
    expect(half.value).toBe(0.5);
    expect(half.low).toBeCloseTo(0.237, 3);
    expect(half.high).toBeCloseTo(0.763, 3);
    expect(shareOf(3, 3)).toMatchObject({ value: 1, high: 1 });
    expect(shareOf(3, 3)!.low).toBeCloseTo(0.438, 2);
  });

  test('lies within its interval, which lies within 0 and 1', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(200), (successes, more) => {
        const share = shareOf(successes, successes + more);
        if (share === null) return successes + more === 0;
        const { value, low, high } = share;
        return 0 <= low && low <= value + 1e-9 && value <= high + 1e-9 && high <= 1;
      }),
    );
  });
});

test('a mean has a wider interval when there are few values', () => {
  expect(meanOf([])).toBeNull();
  expect(meanOf([3])).toEqual({ value: 3, low: 3, high: 3 });
  const [few, many] = [meanOf([1, 3])!, meanOf([1, 3, 1, 3, 1, 3, 1, 3])!];
  expect(few.value).toBe(2);
  expect(many.value).toBe(2);
  expect(few.high - few.low).toBeGreaterThan(many.high - many.low);
});

test('the sign test counts only pairs that differ', () => {
  expect(signTest(0, 0)).toBe(1);
  expect(signTest(4, 0)).toBeCloseTo(0.0625);
  expect(signTest(5, 0)).toBeCloseTo(0.03125);
  expect(signTest(0, 5)).toBeCloseTo(1);
  expect(signTest(3, 3)).toBeCloseTo(0.65625);
});

describe('the report of a replay', () => {
  test('leaves out runs that do not count, and those at work', () => {
    const { variants } = reportOf(['a'], [run('1', 0, passed()), run('2', 0, none()), run('3', 0, null)]);
    expect(variants[0]).toMatchObject({ runs: 1, void: 1, passed: 1, firstTry: 1, costUsd: { value: 0.1 } });
  });

  test('compares task by task; a task without a result of both is left out', () => {
    const runs = [
      ...['1', '2', '3', '4', '5'].flatMap((task) => [run(task, 0, passed(false)), run(task, 1, passed())]),
      run('6', 0, none()),
      run('6', 1, passed()),
    ];
    const { pairs } = reportOf(['as it is', 'with L1'], runs);
    expect(pairs[0]).toMatchObject({ name: 'with L1', pairs: 5, better: 5, worse: 0, passedMore: 0, passedLess: 0 });
    expect(pairs[0]!.p).toBeCloseTo(0.03125);
    expect(pairs[0]!.gain).toMatchObject({ value: 1 });
    expect(pairs[0]!.gain!.low).toBeGreaterThan(0);
    expect(pairs[0]!.costRatio).toBeCloseTo(1);
  });

  test('does not take repetitions of one task for several observations', () => {
    const runs = Array.from({ length: 20 }, () => [run('1', 0, failed()), run('1', 1, passed())]).flat();
    const { pairs } = reportOf(['a', 'b'], runs);
    expect(pairs[0]).toMatchObject({ pairs: 1, better: 1, worse: 0, p: 0.5, passedMore: 1 });
  });

  test('knows no ratio of costs when one of them was not reported', () => {
    const runs = [run('1', 0, passed(true, null)), run('1', 1, passed())];
    expect(reportOf(['a', 'b'], runs).pairs[0]!.costRatio).toBeNull();
  });
});
