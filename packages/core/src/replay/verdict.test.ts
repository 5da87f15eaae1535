import type { ReplayResult, ReplayRun } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { reportOf } from './figures.ts';
import { trialOf } from './verdict.ts';

const VARIANTS = ['without L1', 'with L1', 'placebo'];
/** `1`: at the first try; `2`: after the gates sent it back; `x`: failed; `-`: does not count. */
function replayOf(tasks: readonly string[], cost: readonly number[] = [1, 1, 1]) {
  const runs = tasks.flatMap((marks, task) =>
    [...marks].map((mark, variant): Pick<ReplayRun, 'taskId' | 'variant' | 'result'> => {
      const verdict = mark === '-' ? 'void' : mark === 'x' ? 'failed' : 'passed';
      const result: ReplayResult = {
        verdict,
        tries: mark === '2' ? 2 : 1,
        isFirstTry: mark === '1',
        gates: [],
        why: '',
        runId: null,
        costUsd: cost[variant]!,
        tokens: 1,
        durationMs: 1,
      };
      return { taskId: `task_${task}`, variant, result };
    }),
  );
  return { id: 'replay_1', spentUsd: 3, report: reportOf(VARIANTS, runs) };
}
const verdictOf = (...args: Parameters<typeof replayOf>) => trialOf(replayOf(...args))?.verdict;

describe('a paired replay of a lesson', () => {
  test('shows a gain when the lesson helps on enough tasks and the placebo does not', () => {
    const trial = trialOf(replayOf(['212', '212', '212', '212', '212', '111']));
    expect(trial).toMatchObject({
      verdict: 'gain',
      proof: { replayId: 'replay_1', pairs: 6, placeboGain: 0, costUsd: 3 },
    });
    expect(trial!.proof.low).toBeGreaterThan(0);
    expect(trial!.why).toContain('better on 5 and worse on 0 of 6 tasks');
  });

  test('a placebo never reaches production: it gains as much as the lesson does', () => {
    expect(verdictOf(Array(8).fill('211'))).toBe('unclear');
    expect(trialOf(replayOf(Array(8).fill('211')))?.why).toContain('a lesson without content did as well');
  });

  test('a useless lesson stays where it is', () => {
    expect(verdictOf(['111', '222', '121', '212', '111', '222'])).toBe('unclear');
  });

  test('few tasks show nothing, however well they went', () => {
    expect(verdictOf(['212', '212', '212', '212'])).toBe('unclear');
  });

  test('a lesson that harms is retired, at the first try or in the end', () => {
    expect(verdictOf(['121', '121', '121', '121', '121'])).toBe('harm');
    expect(verdictOf(['2x2', '2x2', '2x2', '2x2', '2x2'])).toBe('harm');
  });

  test('runs that do not count are left out, and a gain that doubles the cost is none', () => {
    expect(trialOf(replayOf(['-11', '-11']))).toBeNull();
    expect(verdictOf(Array(6).fill('212'), [1, 2.5, 1])).toBe('unclear');
    expect(trialOf({ id: 'replay_1', spentUsd: 0, report: null })).toBeNull();
  });
});
