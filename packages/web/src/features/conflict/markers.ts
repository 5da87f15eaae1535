/** A place where the two sides differ, as git marks it in the file. */
export interface Hunk {
  /** First character of the first marker, and the first after the last one. */
  start: number;
  end: number;
  ours: string;
  theirs: string;
}

export type Choice = 'ours' | 'theirs' | 'both';

// A marker is seven signs at the beginning of a line; the part between | and = is the base, which git shows if told to.
const HUNK =
  /^<{7}(?: .*)?\r?\n([\s\S]*?)(?:^\|{7}(?: .*)?\r?\n[\s\S]*?)?^={7}\r?\n([\s\S]*?)^>{7}(?: .*)?(?:\r?\n|$)/gm;

export function hunksOf(text: string): Hunk[] {
  return [...text.matchAll(HUNK)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    ours: match[1] ?? '',
    theirs: match[2] ?? '',
  }));
}

/** The text with one place decided. The target's lines come first when both are kept: the task was built on them. */
export function chosen(text: string, index: number, choice: Choice): string {
  const hunk = hunksOf(text)[index];
  if (!hunk) return text;
  const kept = choice === 'ours' ? hunk.ours : choice === 'theirs' ? hunk.theirs : hunk.theirs + hunk.ours;
  return text.slice(0, hunk.start) + kept + text.slice(hunk.end);
}
