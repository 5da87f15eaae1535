import type { Category } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const categoryEvents = {
  'category.used': (slice, { categoryId: id, category: slug }, { projectId, at }) => {
    const known = slice.record('category', id) ?? blank(id, projectId, slug);
    slice.records.put({ ...known, lastUsedAt: at, uses: known.uses + 1, restsUntil: null, why: '' });
  },
  'category.rested': (slice, { categoryId, until, why }) =>
    changeCategory(slice, categoryId, () => ({ restsUntil: until, why })),
  'proposal.made': (slice, { categoryId }) =>
    changeCategory(slice, categoryId, ({ proposed }) => ({ proposed: proposed + 1 })),
  'proposal.checked': (slice, { categoryId, verdict }) =>
    changeCategory(slice, categoryId, ({ duplicates, invalid }) => ({
      duplicates: duplicates + Number(verdict === 'duplicate'),
      invalid: invalid + Number(verdict === 'invalid'),
    })),
  'proposal.accepted': (slice, { categoryId }) =>
    changeCategory(slice, categoryId, ({ approved }) => ({ approved: approved + 1 })),
  'proposal.refused': (slice, { categoryId }) =>
    changeCategory(slice, categoryId, ({ refused }) => ({ refused: refused + 1 })),
  'proposal.scored': (slice, { categoryId, score, before }) =>
    changeCategory(slice, categoryId, ({ scores }) => ({
      scores: { sum: scores.sum + score - (before ?? 0), count: scores.count + Number(before === null) },
    })),
  'proposal.ended': (slice, { categoryId, outcome }) =>
    changeCategory(slice, categoryId, ({ landed, reverted }) => ({
      landed: landed + Number(outcome === 'landed'),
      reverted: reverted + Number(outcome === 'reverted'),
    })),
} satisfies Reductions;

function changeCategory(slice: Slice, id: string, change: (category: Category) => Partial<Category>): void {
  const category = slice.record('category', id);
  if (category) slice.records.put({ ...category, ...change(category) });
}

const blank = (id: string, projectId: string, slug: string): Category => ({
  noun: 'category',
  id,
  projectId,
  slug,
  lastUsedAt: 0,
  uses: 0,
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
});
