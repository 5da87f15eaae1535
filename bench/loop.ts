import { CATEGORIES, type Category, categoryId } from '@tidemill/contract';
import { type CategoryState, chooseCategory, RELATED, SimilarWork } from '@tidemill/core';
import { simulateLoop } from '../test/sim/loop-simulation.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median } from './sample.ts';

const TASKS = 10_000;
const WORDS = 3_000;
const DAY = 24 * 3_600_000;

/** The choice of a category and the check of a proposal against many tasks; and a month of the loop. */
export async function run(options: BenchOptions): Promise<Section> {
  const startedAt = performance.now();
  const known = new SimilarWork<number>();
  for (let number = 1; number <= TASKS; number += 1) known.put(String(number), number, workOf(number));
  const builtMs = performance.now() - startedAt;
  const states = CATEGORIES.map(stateOf);
  const times: number[] = [];
  for (let round = 0; round < sized(options, 30, 10); round += 1) {
    const from = performance.now();
    chooseCategory(states, 100 * DAY);
    known.like(workOf(TASKS + round), RELATED);
    times.push(performance.now() - from);
  }
  const month = options.quick ? null : await simulateLoop({ seed: 1, days: 30 });
  if (month?.broken) throw new Error(month.broken);
  const monthMs = performance.now() - startedAt - builtMs;
  return {
    name: 'loop',
    title: 'The loop',
    rows: [
      row({
        name: `choose a category and compare a proposal with ${TASKS} tasks`,
        ...{ value: median(times), unit: 'ms' },
        target: { atMost: 20 },
      }),
      row({ name: `read ${TASKS} tasks for the first comparison`, value: builtMs, unit: 'ms' }),
      ...(month ? [row({ name: '30 virtual days', value: monthMs / 1000, unit: 's', target: { atMost: 60 } })] : []),
    ],
    notes: [
      'Tasks of 60 words out of 3,000, each with two files. They are read once; later tasks are added as they come.',
      ...(month
        ? [`${month.accepted} proposals accepted, ${month.landed} landed, ${month.usedCategories} categories used.`]
        : ['Without --quick also 30 virtual days.']),
    ],
  };
}

/** Common words are frequent, as in a language. */
function workOf(number: number) {
  let state = number * 2_654_435_761;
  const word = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return `word${Math.floor((state / 4_294_967_296) ** 3 * WORDS)}`;
  };
  const words = Array.from({ length: 60 }, word);
  return {
    title: words.slice(0, 6).join(' '),
    body: words.slice(6).join(' '),
    files: [`src/${words[0]}.ts`, `test/${words[1]}.ts`],
  };
}

function stateOf(slug: string, index: number): CategoryState {
  const record: Category = {
    noun: 'category',
    id: categoryId('p', slug),
    projectId: 'p',
    slug,
    lastUsedAt: index * DAY,
    uses: 5,
    proposed: 5,
    approved: 4,
    refused: 1,
    duplicates: 0,
    invalid: 0,
    landed: 3,
    reverted: 0,
    scores: { sum: 7, count: 1 },
    restsUntil: null,
    why: '',
  };
  return { slug, record, open: 2 };
}
