import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HOUR, Market } from './budget-market.ts';

/** Stories of random agents, until so many runs were dispatched in all of them. */
export function keepsToLimits({ stories, dispatches }: { stories: number; dispatches: number }): void {
  const each = (1.05 * dispatches) / stories;
  it('a limit is exceeded only by unreported requests of running agents, and no reservation is left', {
    timeout: 240_000,
  }, () => {
    let dispatched = 0;
    let stopped = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const market = new Market(seed);
        // The calendar moves, because a month's limit would end every story early.
        for (let steps = 0; market.dispatched < each && steps < 30 * each; steps += 1) {
          market.step();
          if (steps % 400 === 399) market.world.now += 9 * 24 * HOUR;
          market.world.log.length = 0;
        }
        market.endAll();
        dispatched += market.dispatched;
        stopped += market.stopped;
      }),
      { numRuns: stories },
    );
    expect(dispatched).toBeGreaterThanOrEqual(dispatches);
    // Some of few stories stop no agent.
    expect(stopped).toBeGreaterThan(dispatches < 10_000 ? 0 : 20);
  });
}
