/** The maximum length of a piece, so that all pieces fit together: short ones stay whole. */
export function evenCap(lengths: number[], room: number): number {
  let left = room;
  let open = lengths.length;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    const share = left / open;
    if (length > share) return Math.max(0, Math.floor(share));
    left -= length;
    open -= 1;
  }
  return Number.POSITIVE_INFINITY;
}
