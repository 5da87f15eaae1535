import type { Category } from '@tidemill/contract';

const DAY_MS = 24 * 3_600_000;
/** After an answer that there is nothing to improve. */
export const NO_IDEA_REST_MS = 7 * DAY_MS;
/** After a proposal that could not be used: another category has its turn first. */
export const FAILED_REST_MS = DAY_MS;
/** A category with a low score is tried again this long after its last use. */
const LOW_SCORE_REST_MS = 30 * DAY_MS;
const LOW_SCORE = 5;
const MOST_OPEN = 10;
/** One that was not used for so long comes first, whatever its weight: every category is used within a month. */
const OVERDUE_MS = 21 * DAY_MS;

/** A category that is in use: what is known of it, and its proposals that are not finished. */
export interface CategoryState {
  slug: string;
  /** Null before its first use. */
  record: Category | null;
  open: number;
}

export interface Rest {
  /** Null: until its open proposals are finished. */
  until: number | null;
  why: string;
}

/** Why a category is not used now; null when it can be. */
export function restOf({ record, open }: CategoryState, now: number): Rest | null {
  if (open > MOST_OPEN) return { until: null, why: `${open} of its proposals are not finished` };
  if (!record) return null;
  if (record.restsUntil !== null && record.restsUntil > now) return { until: record.restsUntil, why: record.why };
  const score = scoreOf(record);
  const again = record.lastUsedAt + LOW_SCORE_REST_MS;
  if (score !== null && score < LOW_SCORE && again > now)
    return { until: again, why: `people score its proposals ${score.toFixed(1)} of 10 on average` };
  return null;
}

/** The average of people's scores; null without one. */
export const scoreOf = ({ scores }: Category): number | null => (scores.count === 0 ? null : scores.sum / scores.count);

/**
 * How much a category's waiting time counts, from 0.5 to 3. A score of 5 counts once and a score of 10 twice; no score
 * counts as 5. The yield is the share of its proposals that landed and stayed: none counts half, all count one and a
 * half times. Two assumed proposals, one of them landed, keep the first real ones from deciding everything.
 */
export function weightOf(record: Category | null): number {
  if (!record) return 1;
  const value = Math.max(scoreOf(record) ?? LOW_SCORE, LOW_SCORE) / LOW_SCORE;
  const stayed = Math.max(0, record.landed - record.reverted);
  return value * (0.5 + (stayed + 1) / (record.proposed + 2));
}

export type CategoryChoice = { slug: string } | { slug: null; rests: { slug: string; rest: Rest }[] };

/** The least recently used category that does not rest, with its waiting time weighed. Never used ones come first. */
export function chooseCategory(states: readonly CategoryState[], now: number): CategoryChoice {
  let best: { slug: string; rank: number } | null = null;
  const rests: { slug: string; rest: Rest }[] = [];
  for (const state of states) {
    const rest = restOf(state, now);
    if (rest) {
      rests.push({ slug: state.slug, rest });
      continue;
    }
    const rank = rankOf(state.record, now);
    if (best === null || rank > best.rank) best = { slug: state.slug, rank };
  }
  return best ? { slug: best.slug } : { slug: null, rests };
}

function rankOf(record: Category | null, now: number): number {
  if (!record) return Number.POSITIVE_INFINITY;
  const waitedMs = now - record.lastUsedAt;
  // Above every weighed waiting time.
  return waitedMs > OVERDUE_MS ? waitedMs * 1000 : waitedMs * weightOf(record);
}
