import { diffArrays } from 'diff';

/** With more added and removed lines than this, all lines count as changed, so that the page does not freeze. */
const MOST_CHANGES = 500;

/** For each line of `now`, the index of the same line in `old`, or -1. Null if more than `MOST_CHANGES` lines differ. */
export function matchLines(old: string[], now: string[]): Int32Array | null {
  const changes = diffArrays(old, now, { maxEditLength: MOST_CHANGES });
  if (!changes) return null;
  const matches = new Int32Array(now.length).fill(-1);
  let [from, at] = [0, 0];
  for (const { added, removed, count } of changes) {
    if (removed) from += count;
    else if (added) at += count;
    else for (const end = at + count; at < end; at += 1, from += 1) matches[at] = from;
  }
  return matches;
}

/** Which lines of `text`, from 0 on, are not in `base`. */
export function changedLines(base: string, text: string): Set<number> {
  const now = text.split('\n');
  const matches = matchLines(base.split('\n'), now);
  return new Set(now.flatMap((_, index) => (matches && matches[index]! >= 0 ? [] : [index])));
}
