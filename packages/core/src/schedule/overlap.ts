/** Could one path match a glob of each list? `**` spans folders, `*` and `?` stay within one. Unsure means yes. */
export function scopesOverlap(a: string[], b: string[]): boolean {
  return a.some((left) => b.some((right) => globsMeet(segments(left), segments(right))));
}

/** A scope that names a folder means all below it. */
function segments(glob: string): string[] {
  const parts = glob.split('/').filter((part) => part !== '' && part !== '.');
  return glob.endsWith('/') ? [...parts, '**'] : parts;
}

function globsMeet(a: string[], b: string[]): boolean {
  const [first, ...restA] = a;
  const [second, ...restB] = b;
  if (first === undefined) return b.every((part) => part === '**');
  if (second === undefined) return a.every((part) => part === '**');
  if (first === '**') return globsMeet(restA, b) || globsMeet(a, restB);
  if (second === '**') return globsMeet(a, restB) || globsMeet(restA, b);
  return namesMeet(first, second) && globsMeet(restA, restB);
}

/**
 * Do two name patterns have a common name? Braces and classes are too rich to decide here, and many stars too dear:
 * they count as "could".
 */
function namesMeet(a: string, b: string): boolean {
  if (/[[\]{}]/.test(a + b) || (a + b).split('*').length > 8) return true;
  const [headA, headB] = [a[0], b[0]];
  if (headA === undefined) return /^\**$/.test(b);
  if (headB === undefined) return /^\**$/.test(a);
  if (headA === '*') return namesMeet(a.slice(1), b) || namesMeet(a, b.slice(1));
  if (headB === '*') return namesMeet(a, b.slice(1)) || namesMeet(a.slice(1), b);
  return (headA === headB || headA === '?' || headB === '?') && namesMeet(a.slice(1), b.slice(1));
}
