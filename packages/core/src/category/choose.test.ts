import { CATEGORIES, type Category, categoryId } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import { type CategoryState, chooseCategory, restOf, weightOf } from './choose.ts';

const DAY = 24 * 3_600_000;
const NOW = 1000 * DAY;

const used = (slug: string, daysAgo: number, more: Partial<Category> = {}, open = 0): CategoryState => ({
  slug,
  open,
  record: {
    noun: 'category',
    id: categoryId('project_1', slug),
    projectId: 'project_1',
    slug,
    lastUsedAt: NOW - daysAgo * DAY,
    uses: 1,
    proposed: 0,
    approved: 0,
    refused: 0,
    duplicates: 0,
    invalid: 0,
    landed: 0,
    reverted: 0,
    scores: { sum: 0, count: 0 },
    restsUntil: null,
    why: '',
    ...more,
  },
});
const fresh = (slug: string): CategoryState => ({ slug, record: null, open: 0 });
const chosen = (...states: CategoryState[]) => chooseCategory(states, NOW).slug;

describe('the next category', () => {
  it('is the least recently used one; never used ones come first, in their order', () => {
    expect(chosen(used('a', 1), used('b', 3), used('c', 2))).toBe('b');
    expect(chosen(used('a', 9), fresh('b'), fresh('c'))).toBe('b');
  });

  it('is never one that rests after NO_IDEA, until the seven days are over', () => {
    const rested = { restsUntil: NOW + 1, why: 'nothing to improve' };
    expect(chosen(used('a', 7, rested), used('b', 1))).toBe('b');
    expect(chosen(used('a', 8, { restsUntil: NOW, why: '' }), used('b', 1))).toBe('a');
  });

  it('is never one with more than 10 unfinished proposals', () => {
    expect(chosen(used('a', 9, {}, 11), used('b', 1))).toBe('b');
    expect(chosen(used('a', 9, {}, 10), used('b', 1))).toBe('a');
  });

  it('is never one with an average score below 5, except once a month', () => {
    const low = { scores: { sum: 9, count: 2 } };
    expect(chosen(used('a', 20, low), used('b', 1))).toBe('b');
    expect(restOf(used('a', 20, low), NOW)?.why).toContain('4.5 of 10');
    expect(chosen(used('a', 31, low), used('b', 1))).toBe('a');
    expect(chosen(used('a', 3, { scores: { sum: 10, count: 2 } }), used('b', 1))).toBe('a');
  });

  it('is weighed by score and yield: a good one waits less long, and a bad one is not forgotten', () => {
    const good = { scores: { sum: 18, count: 2 }, proposed: 8, approved: 8, landed: 8 };
    const poor = { proposed: 10, refused: 10 };
    expect(weightOf(used('a', 1, good).record)).toBeGreaterThan(2);
    expect(weightOf(used('a', 1, poor).record)).toBeLessThan(0.7);
    expect(weightOf(used('a', 1, { proposed: 8, landed: 8, reverted: 8 }).record)).toBeLessThan(0.7);
    expect(chosen(used('good', 2, good), used('poor', 4, poor))).toBe('good');
    expect(chosen(used('good', 4, good), used('poor', 22, poor))).toBe('poor');
  });

  it('does not exist when all categories rest: each says why', () => {
    const rested = { restsUntil: NOW + DAY, why: 'nothing to improve' };
    const choice = chooseCategory([used('a', 1, rested), used('b', 1, {}, 11)], NOW);
    expect(choice).toMatchObject({
      slug: null,
      rests: [
        { slug: 'a', rest: { why: 'nothing to improve', until: NOW + DAY } },
        { slug: 'b', rest: { why: '11 of its proposals are not finished', until: null } },
      ],
    });
    expect(chooseCategory([], NOW)).toEqual({ slug: null, rests: [] });
  });

  it('goes through all 21 categories, each once before any twice', () => {
    const states = new Map<string, CategoryState>(CATEGORIES.map((slug) => [slug, fresh(slug)]));
    const seen: string[] = [];
    for (let use = 0; use < 42; use += 1) {
      const slug = chooseCategory([...states.values()], NOW + use * 1000).slug!;
      seen.push(slug);
      states.set(slug, used(slug, -(use * 1000) / DAY));
    }
    expect(seen.slice(0, 21)).toEqual([...CATEGORIES]);
    expect(new Set(seen.slice(21))).toHaveLength(21);
  });
});
