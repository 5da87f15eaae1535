import { expect, it } from 'vitest';
import { plantedBugs } from './planted.ts';
import { plantedPullBugs } from './planted-pulls.ts';
import { type Options, simulate } from './simulation.ts';

export const STORY = { days: 0.2, tasksPerDay: 36 };

type How = Pick<Options, 'plant' | 'landing'> & { from?: number };

/** The first seed whose story breaks an invariant, and which. */
async function firstBroken(seeds: number, { from = 1, ...how }: How = {}): Promise<string | null> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { broken } = await simulate({ seed, ...STORY, ...how });
    if (broken) return `seed ${seed}: ${broken.message} (npm run sim -- --seed ${seed} --days 0.2 --tasks-per-day 36)`;
  }
  return null;
}

/** In every third story, work lands by pull requests. */
export function keepsInvariants(seeds: number, from = 1): void {
  it(`runs ${seeds} seeds without a broken invariant, from seed ${from} on`, async () => {
    expect(await firstBroken(seeds, { from })).toBeNull();
  }, 3_600_000);
}

/** `firstSeed` is where the search for a bug begins. */
export function findsPlantedBugs(firstSeed: (name: string) => number): void {
  it.each(Object.entries(plantedBugs))(
    'finds the planted bug within 200 seeds: %s',
    async (name, plant) => {
      expect(await firstBroken(200, { plant, landing: 'push', from: firstSeed(name) })).not.toBeNull();
    },
    300_000,
  );

  it.each(Object.entries(plantedPullBugs))(
    'finds the planted bug of pull requests within 200 seeds: %s',
    async (name, plant) => {
      expect(await firstBroken(200, { plant, landing: 'pull_request', from: firstSeed(name) })).not.toBeNull();
    },
    300_000,
  );
}
