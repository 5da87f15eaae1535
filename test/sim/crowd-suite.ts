import { expect, it } from 'vitest';
import { simulateCrowd } from './crowd-simulation.ts';

const TASKS = 9;

/** Nobody starves: newcomers do not overtake a task whose resolution was overtaken before, so only the first crowd counts. */
export function landsEveryTask(seeds: number, later: number): void {
  it(`lands ${TASKS} conflicting tasks and ${later} that come later, and starves none, in ${seeds} seeds`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { broken, stages, mostOvertaken } = await simulateCrowd(seed, TASKS, later);
      expect({ seed, broken, stages }).toEqual({ seed, broken: null, stages: { done: TASKS + later } });
      expect(mostOvertaken, `overtaken resolutions of one task, seed ${seed}`).toBeLessThan(TASKS);
    }
  }, 600_000);
}
