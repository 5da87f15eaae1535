import { diffArrays } from 'diff';

/** With more edits than this the exact method is too slow. Items that occur once on both sides then guide it. */
const MOST_EDITS = 400;
/** The same between two such items. */
const MOST_EDITS_BETWEEN = 40;

/** For each item of `from`, the index of the same item in `to`, or -1. The indexes grow. */
export function align(from: readonly string[], to: readonly string[]): Int32Array {
  const matches = new Int32Array(from.length).fill(-1);
  match(from, to, { startA: 0, startB: 0, stopA: from.length, stopB: to.length }, matches, MOST_EDITS);
  return matches;
}

/** The same matches from the other side. */
export function inverse(matches: Int32Array, length: number): Int32Array {
  const back = new Int32Array(length).fill(-1);
  matches.forEach((to, from) => {
    if (to >= 0) back[to] = from;
  });
  return back;
}

interface Part {
  startA: number;
  startB: number;
  stopA: number;
  stopB: number;
}

function match(a: readonly string[], b: readonly string[], part: Part, matches: Int32Array, mostEdits: number): void {
  let { startA, startB, stopA, stopB } = part;
  while (startA < stopA && startB < stopB && a[startA] === b[startB]) matches[startA++] = startB++;
  while (startA < stopA && startB < stopB && a[stopA - 1] === b[stopB - 1]) matches[--stopA] = --stopB;
  if (startA === stopA || startB === stopB) return;
  // An item that the other side does not have cannot match. Without these the exact method is fast.
  const inA = new Set(a.slice(startA, stopA));
  const inB = new Set(b.slice(startB, stopB));
  const restA = range(startA, stopA).filter((at) => inB.has(a[at]!));
  const restB = range(startB, stopB).filter((at) => inA.has(b[at]!));
  const changes = diffArrays(
    restA.map((at) => a[at]!),
    restB.map((at) => b[at]!),
    { maxEditLength: mostEdits },
  );
  if (!changes) {
    if (mostEdits === MOST_EDITS) matchBetweenAnchors(a, b, { startA, startB, stopA, stopB }, matches);
    return;
  }
  let [x, y] = [0, 0];
  for (const { added, removed, count } of changes) {
    if (removed) x += count;
    else if (added) y += count;
    else for (const end = x + count; x < end; ) matches[restA[x++]!] = restB[y++]!;
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

/** Items that occur once on each side, in the same order, split the rest into parts that are matched separately. */
function matchBetweenAnchors(a: readonly string[], b: readonly string[], part: Part, matches: Int32Array): void {
  const { startA, startB, stopA, stopB } = part;
  const placesB = onceIn(b, startB, stopB);
  const pairs = [...onceIn(a, startA, stopA)].flatMap(([item, at]): [number, number][] => {
    const other = placesB.get(item);
    return other === undefined ? [] : [[at, other]];
  });
  let [x, y] = [startA, startB];
  for (const [atA, atB] of longestRising(pairs)) {
    match(a, b, { startA: x, startB: y, stopA: atA, stopB: atB }, matches, MOST_EDITS_BETWEEN);
    matches[atA] = atB;
    [x, y] = [atA + 1, atB + 1];
  }
  match(a, b, { startA: x, startB: y, stopA, stopB }, matches, MOST_EDITS_BETWEEN);
}

function onceIn(items: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = from; at < to; at += 1) places.set(items[at]!, places.has(items[at]!) ? -1 : at);
  return new Map([...places].filter(([, at]) => at >= 0));
}

/** The pairs are sorted by their first number. Keeps the most of them whose second numbers also grow. */
function longestRising(pairs: [number, number][]): [number, number][] {
  const ends: number[] = [];
  const before = pairs.map(() => -1);
  pairs.forEach(([, value], at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < value) low = middle + 1;
      else high = middle;
    }
    before[at] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = at;
  });
  const kept: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]!) kept.push(pairs[at]!);
  return kept.reverse();
}
