/** How the lines of two versions of a text correspond; lines are counted from 0. */
export interface LinePairs {
  /** The same line in both. */
  kept: [before: number, after: number][];
  /** Old lines with the new ones in their place. Lines that were only added or only removed are in none. */
  replaced: { before: number[]; after: number[] }[];
}

/** Above this, what lies between the common beginning and end counts as replaced as a whole. */
const MOST_COMPARED = 4_000_000;

export function linePairs(before: readonly string[], after: readonly string[]): LinePairs {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore -= 1;
    endAfter -= 1;
  }
  const pairs: LinePairs = { kept: [], replaced: [] };
  for (let at = 0; at < start; at += 1) pairs.kept.push([at, at]);
  const common = longestCommon(before.slice(start, endBefore), after.slice(start, endAfter));
  const ends: [number, number][] = [...common, [endBefore - start, endAfter - start]];
  let [i, j] = [0, 0];
  for (const [nextBefore, nextAfter] of ends) {
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => start + from + at);
    if (nextBefore > i && nextAfter > j)
      pairs.replaced.push({ before: range(i, nextBefore), after: range(j, nextAfter) });
    if (start + nextBefore < endBefore) pairs.kept.push([start + nextBefore, start + nextAfter]);
    [i, j] = [nextBefore + 1, nextAfter + 1];
  }
  for (let at = endBefore; at < before.length; at += 1) pairs.kept.push([at, at - endBefore + endAfter]);
  return pairs;
}

function longestCommon(one: readonly string[], other: readonly string[]): [number, number][] {
  const width = other.length + 1;
  if (one.length * other.length > MOST_COMPARED) return [];
  const lengths = new Uint32Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        one[i] === other[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1;
    else j += 1;
  }
  return found;
}
