import type { ComingConflict } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { landingOrder, wouldOvertake } from './landing-order.ts';

interface Draft {
  number: number;
  lines: number;
  files?: number;
  priority?: number;
  with?: number[];
  /** How many of its resolutions were overtaken; absent: it met no conflict. */
  back?: number;
}

const back = (resolved: number | undefined) =>
  resolved === undefined ? null : { base: 'b', at: 0, resolved, overtakenBy: [], idleTries: 0 };

/** Waiting tasks in claiming order; `with` names the numbers of the tasks that each will conflict with. */
function waiting(drafts: Draft[]) {
  const sizeOf = ({ lines, files = 1 }: Draft) => ({ lines, files });
  return drafts.map((draft) => {
    const others = drafts.filter(
      ({ number, with: theirs = [] }) => draft.with?.includes(number) || theirs.includes(draft.number),
    );
    const forecast = others.map(
      (other): ComingConflict => ({
        ...{ taskId: `task_${other.number}`, number: other.number, files: ['a'], fileCount: 1, since: 0 },
        ...{ size: sizeOf(draft), otherSize: sizeOf(other) },
      }),
    );
    return {
      id: `task_${draft.number}`,
      number: draft.number,
      priority: draft.priority ?? 2,
      forecast,
      conflicts: back(draft.back),
    };
  });
}
const order = (drafts: Draft[]) => landingOrder(waiting(drafts)).map(({ number }) => number);

describe('the order in which tasks land', () => {
  test.each<[string, Draft[], number[]]>([
    [
      'without conflicts, as they came',
      [
        { number: 1, lines: 1 },
        { number: 2, lines: 9 },
      ],
      [1, 2],
    ],
    [
      'of two that conflict, the larger first',
      [
        { number: 1, lines: 1, with: [2] },
        { number: 2, lines: 9 },
      ],
      [2, 1],
    ],
    [
      'by files where the lines are equal',
      [
        { number: 1, lines: 5, files: 1, with: [2] },
        { number: 2, lines: 5, files: 3 },
      ],
      [2, 1],
    ],
    [
      'the older where both are equal',
      [
        { number: 1, lines: 5, with: [2] },
        { number: 2, lines: 5 },
      ],
      [1, 2],
    ],
    [
      'a more urgent one does not wait for a larger one',
      [
        { number: 3, lines: 1, priority: 0, with: [1] },
        { number: 1, lines: 9 },
      ],
      [3, 1],
    ],
    [
      'others keep their place',
      [
        { number: 1, lines: 1, with: [3] },
        { number: 2, lines: 4 },
        { number: 3, lines: 9 },
      ],
      [2, 3, 1],
    ],
    [
      'one that comes back from a conflict before a larger one that it would conflict with',
      [
        { number: 1, lines: 9, with: [2] },
        { number: 2, lines: 1, back: 0 },
      ],
      [2, 1],
    ],
    [
      'of two that come back, the one that was overtaken more often',
      [
        { number: 1, lines: 9, with: [2], back: 1 },
        { number: 2, lines: 1, back: 2 },
      ],
      [2, 1],
    ],
    [
      'one that comes back keeps its place among tasks that it does not conflict with',
      [
        { number: 1, lines: 1 },
        { number: 2, lines: 1, back: 3 },
      ],
      [1, 2],
    ],
    [
      'a chain',
      [
        { number: 1, lines: 1, with: [2] },
        { number: 2, lines: 5, with: [3] },
        { number: 3, lines: 9 },
      ],
      [3, 2, 1],
    ],
  ])('is right in the case: %s', (_name, drafts, expected) => {
    expect(order(drafts)).toEqual(expected);
  });

  test('lands each once, the urgent ones first, and no smaller one before a larger one of its priority', () => {
    const draft = fc.record({
      lines: fc.nat(5),
      priority: fc.constantFrom(1, 2),
      with: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 8 }), (given) => {
        const drafts = given
          .map((each, at) => ({ ...each, number: at + 1, with: each.with.filter((number) => number !== at + 1) }))
          .toSorted((a, b) => a.priority - b.priority);
        const landed = landingOrder(waiting(drafts));
        expect(landed.map(({ number }) => number).toSorted()).toEqual(drafts.map(({ number }) => number).toSorted());
        for (const [at, task] of landed.entries())
          for (const later of landed.slice(at + 1)) {
            expect(task.priority).toBeLessThanOrEqual(later.priority);
            const coming = task.forecast.find(({ taskId }) => taskId === later.id);
            if (coming && task.priority === later.priority)
              expect(coming.size.lines).toBeGreaterThanOrEqual(coming.otherSize!.lines);
          }
      }),
    );
  });

  test('exists even when sizes contradict each other', () => {
    const [a, b] = waiting([
      { number: 1, lines: 1, with: [2] },
      { number: 2, lines: 2 },
    ]);
    const small = (task: typeof a) => ({
      ...task!,
      forecast: task!.forecast.map((entry) => ({ ...entry, otherSize: { lines: 99, files: 1 } })),
    });
    expect(landingOrder([small(a), small(b)])).toHaveLength(2);
  });
});

describe('a landing that would overtake a resolution', () => {
  const HOUR = 3_600_000;
  /** #1 is about to land; #2 resolves its conflict again, and conflicts with #1. */
  function pair() {
    const mill = new Mill();
    const [one, two] = [mill.bring(mill.add(), 'merge'), mill.bring(mill.add(), 'implement')];
    const size = { files: 1, lines: 1 };
    const forecast = [
      {
        taskId: two.id,
        number: 2,
        files: ['a'],
        fileCount: 1,
        since: 0,
        size,
        otherSize: size,
      } satisfies ComingConflict,
    ];
    const conflicts = { base: 'b', at: mill.now, resolved: 1, overtakenBy: [7], idleTries: 0 };
    return { now: mill.now, landing: { ...one, forecast }, returning: { ...two, conflicts } };
  }

  test('waits, if that resolution was overtaken before and the forecast says that the two conflict', () => {
    const { now, landing, returning } = pair();
    expect(wouldOvertake(landing, [returning], now)?.number).toBe(2);
    expect(wouldOvertake({ ...landing, forecast: [] }, [returning], now)).toBeUndefined();
    expect(wouldOvertake(landing, [{ ...returning, conflicts: null }], now)).toBeUndefined();
  });

  test('waits half an hour for one task and an hour in all, and never for less urgent work or for a person', () => {
    const { now, landing, returning } = pair();
    expect(wouldOvertake(landing, [returning], now + HOUR / 2)).toBeUndefined();
    const again = { ...returning, conflicts: { ...returning.conflicts, at: now + HOUR } };
    expect(wouldOvertake(landing, [again], now + HOUR)).toBeUndefined();
    expect(wouldOvertake(landing, [{ ...returning, priority: 3 }], now)).toBeUndefined();
    expect(wouldOvertake(landing, [{ ...returning, role: null, stage: 'blocked' }], now)).toBeUndefined();
    expect(wouldOvertake({ ...landing, conflicts: returning.conflicts }, [returning], now)).toBeUndefined();
  });
});
