import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, LIES, SPENDERS } from '../../support/hostile/budget-tricks.ts';
import { SpendingBed } from '../../support/hostile/spending-bed.ts';

const MINUTE = 60_000;
const bed = new SpendingBed();
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

describe('every known lie about costs', { timeout: 3 * MINUTE }, () => {
  it('is booked where it is valid, and as a request of unknown price where it is not', () => bed.expectBooked(LIES));

  it('is zero for a free agent, and its price where it reports one', async () => {
    const project = await bed.attach(configOf(1_000, 2, ', free: true'));
    const ended = await bed.runsOf(project, [
      { title: 'silent', body: `await done()` },
      { title: 'unpriced', body: `await usage({ inputTokens: 7 }); await done()` },
      { title: 'priced', body: `await usage({ costUsd: 0.25 }); await done()` },
    ]);
    expect(ended.get('silent')).toMatchObject({ costUsd: null });
    expect(ended.get('unpriced')).toMatchObject({ costUsd: 0, inputTokens: 7 });
    expect(ended.get('priced')).toMatchObject({ costUsd: 0.25 });
  });
});

describe('every known agent that spends without end', { timeout: 3 * MINUTE }, () => {
  it.concurrent.each(SPENDERS)('is frozen at the limit and killed, though it %s', (...spender) =>
    bed.expectStopped(spender),
  );
});

describe('after all lies about costs', { timeout: MINUTE }, () => {
  it('every figure is a number, and the store is intact', () => bed.expectFigures());
});
