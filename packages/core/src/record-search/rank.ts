/** Per word, as many of the newest records that have it are compared. */
export const CANDIDATES = 100;

/** A record that has one of the words. `words` are all of its words. */
export interface WordMatch {
  place: number;
  word: string;
  words: readonly string[];
}

export interface Ranked {
  place: number;
  /** From 0 to 1: how much of what was asked it has; rare words count more. */
  score: number;
}

/**
 * Orders the candidates of a search, the best first, then the newest. Only the newest records of each word are
 * candidates, so that a common word costs no more than a rare one. How common such a word is follows from how close
 * together they are.
 */
export function rankCandidates(
  asked: readonly string[],
  candidates: readonly WordMatch[],
  newestPlace: number,
): Ranked[] {
  const placesOf = Map.groupBy(candidates, ({ word }) => word);
  const weights = new Map(asked.map((word) => [word, rarity(placesOf.get(word) ?? [], newestPlace)] as const));
  const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const scores = new Map<number, number>();
  for (const { place, words } of candidates) {
    if (scores.has(place)) continue;
    const own = new Set(words);
    let found = 0;
    for (const [word, weight] of weights) if (own.has(word)) found += weight;
    scores.set(place, found / whole);
  }
  return [...scores].map(([place, score]) => ({ place, score })).sort((a, b) => b.score - a.score || b.place - a.place);
}

function rarity(found: readonly WordMatch[], newestPlace: number): number {
  let records = found.length;
  if (records >= CANDIDATES) {
    const oldest = Math.min(...found.map(({ place }) => place));
    records = (records * newestPlace) / Math.max(1, newestPlace - oldest + 1);
  }
  return Math.log(1 + newestPlace / Math.max(1, Math.min(records, newestPlace)));
}
