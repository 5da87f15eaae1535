import { describe, expect, it } from 'vitest';
import { simulateLearning } from './learning-simulation.ts';
import { learnsFromMistakes } from './learning-suite.ts';

describe('learning in a world where agents repeat five mistakes', () => {
  learnsFromMistakes([3]);

  it('the same seed plays the same story', async () => {
    const play = () => simulateLearning({ seed: 7, tasks: 10, isLearning: true });
    expect(await play()).toEqual(await play());
  }, 120_000);
});
