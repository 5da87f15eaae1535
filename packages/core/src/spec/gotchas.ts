import type { Gotcha, SpecAction } from '@tidemill/contract';
import { scopesOverlap } from '../schedule/overlap.ts';

const LEAST_CONFIDENCE = 0.6;
const MOST_GOTCHAS = 5;

/** What matters for a task: by its files or its action, the most certain first. */
export function gotchasFor(known: readonly Gotcha[], task: { files: string[]; action: SpecAction }): Gotcha[] {
  const seen = new Set<string>();
  return known
    .filter(({ confidence }) => confidence >= LEAST_CONFIDENCE)
    .filter((gotcha) => fits(gotcha, task))
    .sort((a, b) => b.confidence - a.confidence)
    .filter(({ text }) => !seen.has(text) && seen.add(text))
    .slice(0, MOST_GOTCHAS);
}

/** One with files and an action fits when one of them does; one with neither is about everything. */
function fits({ files, action }: Gotcha, task: { files: string[]; action: SpecAction }): boolean {
  if (files === '' && action === null) return true;
  return (files !== '' && scopesOverlap([files], task.files)) || action === task.action;
}
