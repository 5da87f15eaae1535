import type { Lesson, Tally } from '@tidemill/contract';

/** One-sided 95 %. */
const SURE = 1.645;
/** One-sided 80 %: enough to take back a step. */
export const LIKELY = 0.842;
/** As much as this many runs, the other runs of the project count beside those that are comparable. */
const PRIOR = 5;

/** The bounds of a share after some tries (Wilson's score interval). */
export function boundsOf({ good, total }: Tally, z = SURE): { low: number; high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const share = good / total;
  const square = z * z;
  const middle = share + square / (2 * total);
  const spread = z * Math.sqrt((share * (1 - share) + square / (4 * total)) / total);
  const scale = 1 + square / total;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** The measured runs that were given a lesson. */
export const ratedRuns = ({ helped, hurt }: Pick<Lesson, 'helped' | 'hurt'>): Tally => ({
  good: helped,
  total: helped + hurt,
});

/**
 * The share of runs without the lesson that end well: those that it fits, and, as far as there are few of them, all others
 * of the project. Hard files have a lower share than easy ones, so the project's own share alone would be unfair.
 */
export function baseRateOf(lesson: Pick<Lesson, 'helped' | 'hurt' | 'control'>, runs: Tally): number {
  const own = ratedRuns(lesson);
  const others = { good: Math.max(0, runs.good - own.good), total: Math.max(0, runs.total - own.total) };
  const rate = (Math.min(others.good, others.total) + 1) / (others.total + 2);
  return (lesson.control.good + PRIOR * rate) / (lesson.control.total + PRIOR);
}
