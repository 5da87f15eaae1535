/** Beyond this many comparisons the middle counts as changed as a whole: the page must not stand still for it. */
const MOST_WORK = 4_000_000;

/** Which lines of `text`, from 0 on, are not in `base`: by the longest common subsequence of lines. */
export function changedLines(base: string, text: string): Set<number> {
  const before = base.split('\n');
  const after = text.split('\n');
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  const common = old.length * now.length > MOST_WORK ? new Set<number>() : kept(old, now);
  return new Set(now.flatMap((_, index) => (common.has(index) ? [] : [head + index])));
}

function kept(old: string[], now: string[]): Set<number> {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === now[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const found = new Set<number>();
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      found.add(j);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1;
    else j += 1;
  }
  return found;
}
