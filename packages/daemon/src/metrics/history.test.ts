import { FailureClass, METRIC_PERIOD_MS, MetricPeriod, Mode, Outcome } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { figuresOf, isFirstReview, startOf } from './figures.ts';
import { type PastFacts, pointsOf, spendOf, stepsOf } from './history.ts';

const now = Date.parse('2026-11-16T08:00:00Z');
const HOUR = 3_600_000;
const MONTH = METRIC_PERIOD_MS['30d'];

/** Many fall on the very border of a step. */
const moment = fc.oneof(
  fc.integer({ min: now - MONTH, max: now }),
  fc.integer({ min: 0, max: 720 }).map((hours) => now - hours * HOUR),
);
const run = fc.record({
  id: fc.uuid(),
  subjectId: fc.constantFrom('a', 'b', 'c'),
  workerId: fc.constant('p/agent-1'),
  mode: fc.constantFrom(...Mode.options),
  agent: fc.constantFrom('claude', 'codex'),
  attempt: fc.integer({ min: 1, max: 2 }),
  outcome: fc.constantFrom(...Outcome.options),
  failure: fc.option(fc.constantFrom(...FailureClass.options)),
  startedAt: fc.constant(0),
  endedAt: moment,
  costUsd: fc.integer({ min: 0, max: 5000 }).map((cents) => cents / 100),
});
const done = fc.record({
  id: fc.uuid(),
  doneAt: moment,
  claimedAt: fc.option(fc.integer({ min: now - 2 * MONTH, max: now - MONTH }), { freq: 4 }),
});
const life = fc
  .tuple(moment, fc.option(fc.integer({ min: 0, max: MONTH })))
  .map(([createdAt, tookMs]) => ({ createdAt, finishedAt: tookMs === null ? null : createdAt + tookMs }));
const facts: fc.Arbitrary<PastFacts> = fc.record({
  runs: fc.array(run, { maxLength: 60 }),
  done: fc.array(done, { maxLength: 40 }),
  lives: fc.array(life, { maxLength: 40 }),
  createdAt: fc.oneof(fc.constant(0), moment),
});
const everyPeriod = fc.constantFrom(...MetricPeriod.options);
const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);

describe('history', () => {
  it('says over all its steps what the metrics of the period say', async () => {
    await fc.assert(
      fc.asyncProperty(facts, everyPeriod, async (past, period) => {
        const { total } = await figuresOf({ ...past, workers: [], busySince: new Map() }, period, now);
        const steps = stepsOf(period, now);
        const points = pointsOf(past, steps);
        const spend = spendOf('p', past, steps);
        const start = startOf(past.createdAt, period, now);
        const within = (at: number, from: number) => at > start && at > from && at <= from + steps.stepMs;
        const weighted = (value: (at: number) => number | null, weight: (from: number) => number) =>
          sum(points.map(({ at }) => (value(at) ?? 0) * weight(at))) / sum(points.map(({ at }) => weight(at)));
        const pointAt = (at: number) => points.find((point) => point.at === at)!;
        const claimed = (from: number) =>
          past.done.filter((task) => task.claimedAt !== null && within(task.doneAt, from)).length;
        const reviewed = (from: number) =>
          past.runs.filter((each) => isFirstReview(each) && within(each.endedAt, from)).length;

        expect(sum(points.map((point) => point.done))).toBe(total.completed);
        expect(sum(spend.map(({ usd }) => usd))).toBeCloseTo(total.costUsd);
        expect(sum(spend.map(({ runs }) => runs))).toBe(past.runs.filter(({ endedAt }) => endedAt > start).length);
        const cycle = weighted((at) => pointAt(at).cycleTimeMs, claimed);
        if (total.cycleTimeMs === null) expect(cycle).toBeNaN();
        else expect(cycle / total.cycleTimeMs).toBeCloseTo(1);
        const passed = weighted((at) => pointAt(at).firstPassRate, reviewed);
        if (total.firstReviewPassRate === null) expect(passed).toBeNaN();
        else expect(passed).toBeCloseTo(total.firstReviewPassRate);
      }),
    );
  });

  it('counts what was there at the end of each step, the last of which ends now', () => {
    fc.assert(
      fc.property(facts, everyPeriod, (past, period) => {
        const steps = stepsOf(period, now);
        const points = pointsOf(past, steps);
        expect(points.at(-1)!.at + steps.stepMs).toBe(now);
        expect(points[0]!.at).toBe(now - METRIC_PERIOD_MS[period]);
        for (const { at, queued } of points.slice(0, -1)) {
          const end = at + steps.stepMs;
          const there = past.lives.filter(
            ({ createdAt, finishedAt }) => createdAt <= end && (finishedAt === null || finishedAt > end),
          );
          expect(queued).toBe(there.length);
        }
      }),
    );
  });
});
