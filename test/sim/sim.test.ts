import { describe, expect, it } from 'vitest';
import { findsPlantedBugs, keepsInvariants, STORY } from './sim-suite.ts';
import { simulate } from './simulation.ts';

/** Seeds whose stories break early. When one no longer does, those after it are tried. */
const FOUND_BY: Record<string, number> = {
  'fence check removed': 4,
  'lease not expired': 5,
  'evidence not bound to the tree': 1,
  'merge before gates': 1,
  'a batch lands with a red member': 2,
  'a flake counted as green': 2,
  'one answer is enough': 8,
  'the budget is not enforced': 1,
  'the target’s lines are dropped': 9,
  'alerts are repeated without a pause': 2,
  'no checks count as passed': 2,
  'comments are forgotten, and passed on again': 2,
};

describe('the simulation', () => {
  keepsInvariants(6);

  it.each([
    ['a text of a pull request that was changed back and forth', { seed: 51 }],
    ['work on a red target that conflicts with the mended one', { seed: 236 }],
    ['a merge while nobody knew what others had pushed', { seed: 125, landing: 'pull_request' as const }],
  ])(
    'plays a story that once broke: %s',
    async (_name, story) => {
      expect((await simulate({ ...STORY, ...story })).broken).toBeNull();
    },
    120_000,
  );

  it('runs the same story for the same seed', async () => {
    const [first, second] = [await simulate({ seed: 9, ...STORY }), await simulate({ seed: 9, ...STORY })];
    expect(second).toEqual(first);
  });

  findsPlantedBugs((name) => FOUND_BY[name] ?? 1);
});
