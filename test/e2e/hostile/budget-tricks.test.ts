import type { Api } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, every, LIES, LIMIT, ONE, SLACK, SPENDERS } from '../../support/hostile/budget-tricks.ts';
import { SpendingBed } from '../../support/hostile/spending-bed.ts';

const MINUTE = 60_000;
/** One of each family; the long tests have all of them. */
const FAMILIES = [
  'two lines of 1e308',
  'a negative price to take back what was told',
  'nothing at all',
  'a price in words',
  'the same line twice',
  'usage after the result',
];

const bed = new SpendingBed();
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

describe('the cost that an agent reports', { timeout: 3 * MINUTE }, () => {
  it('is booked where it is valid, and as a request of unknown price where it is not', () =>
    bed.expectBooked(LIES.filter(([title]) => FAMILIES.includes(title))));
});

describe('an agent that spends without end', { timeout: 3 * MINUTE }, () => {
  const [, , withChild] = SPENDERS;
  it.concurrent(`is frozen at the limit and killed, though it ${withChild![0]}`, () => bed.expectStopped(withChild!));

  it.concurrent('has the sum of reservations kept within the limit when there are several at once', async () => {
    const project = await bed.attach(configOf(LIMIT, 4));
    const body = `process.on('SIGTERM', () => {}); ${every('0.4')}`;
    for (const title of ['one', 'two', 'three', 'four']) await bed.api.addTask({ project: project.id, title, body });
    const seen: number[] = [];
    const over = new AbortController();
    const watch = (async () => {
      for await (const _ of bed.api.events({ project: project.id, follow: true, types: ['run.spent'] }, over.signal)) {
        const { daily } = await bed.accountOf(project);
        seen.push(daily.reservedUsd + Math.min(daily.spentUsd, LIMIT));
      }
    })().catch(() => undefined);
    const { daily } = await bed.stoppedAt(project, 4);
    over.abort();
    await watch;
    expect(Math.max(...seen)).toBeLessThanOrEqual(LIMIT + 1e-6);
    expect(daily.spentUsd).toBeGreaterThanOrEqual(LIMIT - 1.6);
    expect(daily.spentUsd).toBeLessThanOrEqual(LIMIT + SLACK);
    expect(daily.reservedUsd).toBe(0);
  });
});

describe('a worker outside the daemon', { timeout: MINUTE }, () => {
  it('cannot hand in an invalid price, and pays for a request when it reports none', async () => {
    const project = await bed.attach(configOf(LIMIT, 1));
    await bed.api.steerWorkers({ project: project.id, worker: 'agent-1', operation: 'pause' });
    await bed.api.addTask({ project: project.id, title: 'outside', body: '' });
    const work = (await bed.api.claimWork({ project: project.id, worker: 'alpha' }))!;
    const { number: task, fence } = work;
    const result = { outcome: 'no_changes', summary: '' } as const;
    const hand = (usage: object) =>
      bed.api.finishClaim({ project: project.id, task, fence, result, usage } as Parameters<Api['finishClaim']>[0]);
    for (const usage of [
      { costUsd: 1e308 },
      { costUsd: -1 },
      { costUsd: '1' },
      { requests: 1e300 },
      { inputTokens: 0.5 },
    ])
      await expect(hand(usage), JSON.stringify(usage)).rejects.toMatchObject({ code: 'bad_input' });
    expect((await bed.accountOf(project)).daily.spentUsd).toBe(0);
    await hand({});
    expect((await bed.accountOf(project)).daily.spentUsd).toBe(ONE);
  });
});

describe('after all budget tricks', { timeout: MINUTE }, () => {
  it('every figure is a number, and the store is intact', () => bed.expectFigures());
});
