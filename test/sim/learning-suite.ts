import { LEAST_CONFIDENCE, type Lesson } from '@tidemill/contract';
import { expect, it } from 'vitest';
import { simulateLearning } from './learning-simulation.ts';
import { AREAS, PLACEBO, PLANTED } from './learning-world.ts';

const isGivenOut = ({ stage, confidence }: Lesson) => stage !== 'retired' && confidence >= LEAST_CONFIDENCE;

/** Plays these worlds. */
export function learnsFromMistakes(seeds: number[]): void {
  it.each(seeds)(
    'repeated mistakes fall by at least 80 percent within 30 tasks, with faults: seed %i',
    async (seed) => {
      const without = await simulateLearning({ seed, tasks: 30, isLearning: false });
      const learning = await simulateLearning({ seed, tasks: 90, isLearning: true });
      expect([...without.broken, ...learning.broken]).toEqual([]);
      expect(without.repeated).toBe(25);
      expect(learning.repeated).toBeLessThanOrEqual(without.repeated * 0.2);
      const named = (text: string) => learning.lessons.filter((lesson) => lesson.text === text);
      // What was learned pays, and its replay shows it.
      for (const { cure } of AREAS) expect(named(cure), cure).toMatchObject([{ stage: 'production' }]);
      // What was planted never reaches production, and runs do not get most of what does harm any more.
      const planted = PLANTED.map(({ text, isHarmful }) => ({ lesson: named(text)[0]!, isHarmful }));
      expect(planted.filter(({ lesson }) => lesson.stage === 'production')).toEqual([]);
      const harmful = planted.filter(({ isHarmful, lesson }) => isHarmful && isGivenOut(lesson));
      expect(harmful.length).toBeLessThanOrEqual(2);
      expect(named(PLACEBO)).toMatchObject([{ stage: 'experiment' }]);
    },
    300_000,
  );
}
