import type { Mode, Task } from '@tidemill/contract';
import type { JudgedBy } from '@tidemill/core';
import { section } from './text.ts';

/** The acceptance criteria, or what their absence means for this run. */
export function acceptanceSection({ criteria }: Task, mode: Mode, by: JudgedBy): string {
  const lines = criteria.length > 0 ? criteria.map(criterionLine) : withoutCriteria(mode, by);
  return section('Acceptance criteria', lines);
}

function criterionLine({ id, text, met, evidence }: Task['criteria'][number]): string {
  const verdict = met === null ? '' : ` (last review: ${met ? 'met' : 'not met'}${evidence ? `; ${evidence}` : ''})`;
  return `- \`${id}\`: ${text}${verdict}`;
}

function withoutCriteria(mode: Mode, by: JudgedBy): string[] {
  if (by === 'gates') return [];
  if (mode === 'review') return [DERIVE];
  const isPlanner = mode === 'plan' || mode === 'plan_revision' || mode === 'investigate';
  return [isPlanner && by === 'asked' ? PROPOSE : EXPECT];
}

const DERIVE =
  'Nobody wrote any. Before you look at the change, derive from the title and the description what must hold when the task is done: each a statement that can be checked. Judge each one. Put them into `review.criteria`, every entry with an `id` (`C1`, `C2` …), the criterion as `text`, `met` and `evidence`. An approval without them does not count.';
const PROPOSE =
  'Nobody wrote any, and the task says little. Put two to five into `criteria` of your result, as a list of sentences: what must hold when the task is done, so that another agent can check it. A person decides about them before anything is built.';
const EXPECT =
  'Nobody wrote any. A reviewer derives from the title and the description what must hold, and judges the change by that. Do what they ask for, and nothing else.';
