import {
  type Category,
  type CategoryView,
  categoryId,
  EXPOSURES,
  isOpenProposal,
  type LoopConfig,
  type Proposal,
} from '@tidemill/contract';
import { type CategoryState, restOf, scoreOf, weightOf } from '@tidemill/core';
import type { CategoryText } from '../../ports.ts';

const WEEKS = 4;
const WEEK_MS = 7 * 24 * 3_600_000;

export interface SeenCategory extends CategoryState {
  text: CategoryText;
  /** When its proposals became tasks. */
  acceptedAt: readonly number[];
  /** Null when it is in use. */
  unused: { state: 'off' | 'later' | 'broken'; why: string } | null;
}

/** Every category with what is known of it, and which of them are in use. */
export function seeCategories(
  texts: readonly CategoryText[],
  { categories: chosen, exposure }: Pick<LoopConfig, 'categories' | 'exposure'>,
  projectId: string,
  records: readonly Category[],
  proposals: Iterable<Proposal>,
): SeenCategory[] {
  const known = new Map(records.map((record) => [record.id, record]));
  const open = new Map<string, number>();
  const accepted = new Map<string, number[]>();
  for (const proposal of proposals) {
    const { category, status, decidedAt } = proposal;
    if (isOpenProposal(proposal)) open.set(category, (open.get(category) ?? 0) + 1);
    if (status === 'accepted' && decidedAt !== null)
      accepted.set(category, [...(accepted.get(category) ?? []), decidedAt]);
  }
  let left = EXPOSURES[exposure - 1]!.categories as number;
  return texts.map((text) => {
    const { slug } = text;
    const isOff = text.isOff || (chosen !== undefined && !chosen.includes(slug));
    const isUsable = !isOff && text.fault === null;
    if (isUsable) left -= 1;
    const unused = isOff
      ? ({ state: 'off', why: text.isOff ? 'switched off by its own file' : 'not in loop.categories' } as const)
      : text.fault !== null
        ? ({ state: 'broken', why: text.fault } as const)
        : left < 0
          ? ({ state: 'later', why: `needs a loop.exposure above ${exposure}` } as const)
          : null;
    const record = known.get(categoryId(projectId, slug)) ?? null;
    return { slug, text, unused, record, open: open.get(slug) ?? 0, acceptedAt: accepted.get(slug) ?? [] };
  });
}

export function viewCategory(seen: SeenCategory, now: number): CategoryView {
  const { slug, text, unused, record, open, acceptedAt } = seen;
  const rest = unused ? null : restOf(seen, now);
  return {
    slug,
    name: text.name,
    state: unused?.state ?? (rest ? 'resting' : 'ready'),
    why: unused?.why ?? rest?.why ?? '',
    restsUntil: rest?.until ?? null,
    lastUsedAt: record?.lastUsedAt ?? null,
    uses: record?.uses ?? 0,
    open,
    proposed: record?.proposed ?? 0,
    approved: record?.approved ?? 0,
    landed: record?.landed ?? 0,
    reverted: record?.reverted ?? 0,
    tasksPerWeek: acceptedAt.filter((at) => at > now - WEEKS * WEEK_MS).length / WEEKS,
    score: record ? scoreOf(record) : null,
    weight: weightOf(record),
  };
}
