/** Could one path match a glob of each list? `**` spans folders, `*` and `?` stay within one. Unsure means yes. */
export function scopesOverlap(a: string[], b: string[]): boolean {
  return a.some((left) => b.some((right) => meet(segments(left), segments(right), '**', namesMeet)));
}

/** A folder in a scope includes all files below it. A name without a slash and an extension could be a folder. */
function segments(glob: string): string[] {
  const parts = glob
    .normalize('NFC')
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  const couldBeFolder = glob.endsWith('/') || /^\.?[^.*?[\]{}]*$/.test(parts.at(-1) ?? '');
  return couldBeFolder ? [...parts, '**'] : parts;
}

/** Do two name patterns have a common name? Patterns with braces and classes are not analysed: they count as overlapping. */
function namesMeet(a: string, b: string): boolean {
  if (/[[\]{}]/.test(a + b)) return true;
  return meet([...a], [...b], '*', (x, y) => x === y || x === '?' || y === '?');
}

/** Do two patterns have a common match, where `wild` matches any number of parts? Takes a × b steps for any patterns. */
function meet(a: string[], b: string[], wild: string, same: (x: string, y: string) => boolean): boolean {
  // below[j]: can what follows a's part meet b from its part j on?
  let below: boolean[] = [];
  for (let i = a.length; i >= 0; i -= 1) {
    const row: boolean[] = [];
    for (let j = b.length; j >= 0; j -= 1) {
      const [x, y] = [a[i], b[j]];
      if (x === undefined && y === undefined) row[j] = true;
      else if (x === wild || y === wild) row[j] = (x !== undefined && below[j]!) || (y !== undefined && row[j + 1]!);
      else row[j] = x !== undefined && y !== undefined && below[j + 1]! && same(x, y);
    }
    below = row;
  }
  return below[0]!;
}
