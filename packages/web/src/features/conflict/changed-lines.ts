/** Beyond this many comparisons the middle counts as changed as a whole: the page must not stand still for it. */
const MOST_WORK = 4_000_000;

/**
 * For each line of `now` the line of `old` that it is, or -1: by the longest common subsequence. Null where the two are so
 * long and so different that it is not worth finding out.
 */
export function matchLines(old: string[], now: string[]): Int32Array | null {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const matches = new Int32Array(now.length).fill(-1);
  for (let i = 0; i < head; i += 1) matches[i] = i;
  for (let i = 1; i <= tail; i += 1) matches[now.length - i] = old.length - i;
  const middle = { old: old.slice(head, old.length - tail), now: now.slice(head, now.length - tail) };
  if (middle.old.length * middle.now.length > MOST_WORK) return null;
  for (const [index, match] of common(middle.old, middle.now)) matches[head + index] = head + match;
  return matches;
}

/** Which lines of `text`, from 0 on, are not in `base`. */
export function changedLines(base: string, text: string): Set<number> {
  const now = text.split('\n');
  const matches = matchLines(base.split('\n'), now);
  return new Set(now.flatMap((_, index) => (matches && matches[index]! >= 0 ? [] : [index])));
}

function common(old: string[], now: string[]): [index: number, match: number][] {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === now[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      found.push([j, i]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1;
    else j += 1;
  }
  return found;
}
