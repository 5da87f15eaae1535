import { describe, expect, it } from 'vitest';
import { plantedBugs } from './planted.ts';
import { simulate } from './simulation.ts';

const STORY = { days: 0.2, tasksPerDay: 36 };

/** The first seed whose story breaks an invariant, and which. */
async function firstBroken(seeds: number, from: number, plant?: (typeof plantedBugs)[string]): Promise<string | null> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { broken } = await simulate({ seed, ...STORY, plant });
    if (broken) return `seed ${seed}: ${broken.message} (npm run sim -- --seed ${seed} --days 0.2 --tasks-per-day 36)`;
  }
  return null;
}

describe('simulation', () => {
  // `npm run sim` runs 1,000 of them.
  it('runs 40 seeds without a broken invariant', async () => {
    expect(await firstBroken(40, 1)).toBeNull();
  }, 600_000);

  it('runs the same story for the same seed', async () => {
    const [first, second] = [await simulate({ seed: 42, ...STORY }), await simulate({ seed: 42, ...STORY })];
    expect(second).toEqual(first);
  });

  it.each(Object.keys(plantedBugs))(
    'finds the planted bug within 200 seeds: %s',
    async (name) => {
      expect(await firstBroken(200, 1, plantedBugs[name])).not.toBeNull();
    },
    120_000,
  );
});
