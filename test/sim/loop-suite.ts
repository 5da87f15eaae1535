import { expect, it } from 'vitest';
import { simulateLoop } from './loop-simulation.ts';

/** `npm run sim` plays 30 days. */
export function loopsForDays(seed: number, days: number): void {
  it('uses all 21 categories, keeps the queue within its limits and its budget, accepts no duplicate, explains stalls', async () => {
    const report = await simulateLoop({ seed, days });
    expect(report).toMatchObject({ broken: null, usedCategories: 21 });
    expect(report.inRange).toBeGreaterThanOrEqual(0.9);
    expect(report.landed).toBeGreaterThan(5);
    expect(report.dropped).toBeGreaterThan(0);
    // The budget was really spent, so it was really kept.
    expect(report.holds).toBeGreaterThan(0);
  }, 600_000);
}
