const GROUPS = ['passed', 'failed', 'skipped'];
const LONGEST = 300;

/** Why this cannot be the pattern of a gate's test figures, or null. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > LONGEST) return `is longer than ${LONGEST} characters`;
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    return `is not a regular expression: ${(error as Error).message}`;
  }
  const named = [...pattern.matchAll(/\(\?<([A-Za-z_$][\w$]*)>/g)].map(([, name]) => name!);
  const unknown = named.find((name) => !GROUPS.includes(name));
  if (unknown !== undefined) return `has a group "${unknown}"; the groups are ${GROUPS.join(', ')}`;
  if (!named.includes('passed')) return 'needs a group for the tests that passed: (?<passed>\\d+)';
  if (/\\(?:\d|k<)/.test(pattern)) return 'refers back to a group, which can take very long';
  return repeatsRepetition(pattern) ? 'repeats a group that repeats something itself, which can take very long' : null;
}

/** `(a+)+`, `(a|b)*`: the time to match some lines doubles with each character. */
function repeatsRepetition(pattern: string): boolean {
  const plain = pattern.replace(/\\./g, '_').replace(/\[[^\]]*\]/g, '_');
  const open: boolean[] = [];
  let inner = false;
  for (let at = 0; at < plain.length; at += 1) {
    const char = plain[at];
    if (char === '(') {
      open.push(inner);
      inner = false;
    } else if (char === ')') {
      if (inner && /^(?:[*+]|\{\d+,)/.test(plain.slice(at + 1))) return true;
      inner = inner || (open.pop() ?? false);
    } else if (char === '|' || char === '*' || char === '+' || /^\{\d+,/.test(plain.slice(at))) inner = true;
  }
  return false;
}
