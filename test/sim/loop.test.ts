import { decide } from '@tidemill/core';
import { describe, expect, it } from 'vitest';
import { simulateLoop } from './loop-simulation.ts';
import type { PlantedBug } from './planted.ts';

/** The check finds a duplicate, and it is accepted all the same. */
const BLIND: PlantedBug = {
  decide: (slice, command, env) =>
    decide(slice, command.type === 'proposal.check' ? { ...command, verdict: 'waiting' } : command, env),
};

describe('the loop over virtual days', () => {
  // `npm run sim` plays 30 of them.
  it('uses all 21 categories, keeps the queue within its limits and its budget, accepts no duplicate, explains stalls', async () => {
    const report = await simulateLoop({ seed: 2, days: 2 });
    expect(report).toMatchObject({ broken: null, usedCategories: 21 });
    expect(report.inRange).toBeGreaterThanOrEqual(0.9);
    expect(report.landed).toBeGreaterThan(10);
    expect(report.dropped).toBeGreaterThan(0);
    // The budget was really spent, so it was really kept.
    expect(report.holds).toBeGreaterThan(0);
  }, 120_000);

  it('notices a duplicate that is accepted', async () => {
    const { broken } = await simulateLoop({ seed: 1, days: 3, plant: BLIND });
    expect(broken).toContain('a duplicate was accepted');
  }, 120_000);
});
