import type { Proposal } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { seeCategories, viewCategory } from './categories.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = 100 * DAY_MS;

test('a category says how many of its proposals became tasks in each of the last four weeks', () => {
  const text = (slug: string) => ({ slug, name: slug, isOff: false, fault: null, fill: () => '' });
  const proposal = (category: string, status: Proposal['status'], daysAgo: number) =>
    ({ category, status, outcome: 'landed', decidedAt: NOW - daysAgo * DAY_MS }) as Proposal;
  const proposals = [
    ...[0, 3, 8, 15, 27].map((daysAgo) => proposal('testing', 'accepted', daysAgo)),
    proposal('testing', 'accepted', 29),
    proposal('testing', 'refused', 1),
    proposal('security', 'accepted', 1),
  ];
  const texts = ['testing', 'security', 'devops'].map(text);
  const seen = seeCategories(texts, { categories: undefined, exposure: 4 }, 'project_1', [], proposals);
  expect(seen.map((each) => [each.slug, viewCategory(each, NOW).tasksPerWeek])).toEqual([
    ['testing', 1.25],
    ['security', 0.25],
    ['devops', 0],
  ]);
});
