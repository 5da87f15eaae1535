/** A JSON object somewhere in a text, or something that was meant to be a result and is not JSON. */
export type FoundObject = { at: number; object: Record<string, unknown> } | { at: number; broken: string };

/** Results stand at the end of what an agent says; more is not looked through. */
const LONGEST_TEXT = 1024 * 1024;
/** How many characters all attempts together may look at: braces without end must not cost us minutes. */
const MOST_STEPS = 8 * LONGEST_TEXT;

const FENCE = /^[ \t]*```[ \t]*(?:json[c5]?)?[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```/gim;
const OBJECT_START = /\{\s*"/g;
const RESULT_START = /^\{\s*"(?:tidemill|outcome)"/;

/** In the order of the text: what stands in fenced blocks, and what stands bare among words. */
export function jsonObjectsIn(whole: string): FoundObject[] {
  const text = whole.slice(-LONGEST_TEXT);
  const fenced = fencedIn(text);
  const bare = bareIn(text).filter(({ at }) => !fenced.some(({ from, to }) => at >= from && at < to));
  return [...fenced.map(({ found }) => found), ...bare].sort((a, b) => a.at - b.at);
}

function fencedIn(text: string): { from: number; to: number; found: FoundObject }[] {
  return [...text.matchAll(FENCE)].flatMap((match) => {
    const inside = (match[1] ?? '').trim();
    if (!inside.startsWith('{')) return [];
    const parsed = parse(inside);
    const isMeant = 'object' in parsed || inside.includes('"outcome"');
    return isMeant
      ? [{ from: match.index, to: match.index + match[0].length, found: { at: match.index, ...parsed } }]
      : [];
  });
}

function bareIn(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let from = 0;
  let steps = 0;
  for (const start of text.matchAll(OBJECT_START)) {
    if (start.index < from || steps > MOST_STEPS) continue;
    const end = endOfObject(text, start.index);
    steps += (end ?? text.length) - start.index;
    const parsed = end === null ? { broken: 'it is cut off' } : parse(text.slice(start.index, end));
    if ('object' in parsed) {
      found.push({ at: start.index, ...parsed });
      from = end ?? text.length;
    } else if (RESULT_START.test(text.slice(start.index, start.index + 64))) {
      found.push({ at: start.index, ...parsed });
    }
  }
  return found;
}

/** Behind the brace that closes the one at `start`, or null. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      if (at < 0) return null;
    } else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

/** The closing quote of the string that opens at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function parse(text: string): { object: Record<string, unknown> } | { broken: string } {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { object: value as Record<string, unknown> } : { broken: 'it is not an object' };
  } catch (error) {
    return { broken: (error as Error).message };
  }
}
