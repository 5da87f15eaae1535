import { decide } from '@tidemill/core';
import { describe, expect, it } from 'vitest';
import { simulateLoop } from './loop-simulation.ts';
import { loopsForDays } from './loop-suite.ts';
import type { PlantedBug } from './planted.ts';

/** The check finds a duplicate, and it is accepted all the same. */
const BLIND: PlantedBug = {
  decide: (slice, command, env) =>
    decide(slice, command.type === 'proposal.check' ? { ...command, verdict: 'waiting' } : command, env),
};

describe('the loop over virtual days', () => {
  loopsForDays(3, 1);

  it('notices a duplicate that is accepted', async () => {
    const { broken } = await simulateLoop({ seed: 1, days: 3, plant: BLIND });
    expect(broken).toContain('a duplicate was accepted');
  }, 120_000);
});
