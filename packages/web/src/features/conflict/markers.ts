import { matchLines } from './changed-lines.ts';

/** A place where the two sides differ, as git marks it in the file. */
export interface Hunk {
  /** First character of the first marker, and the first after the last one. */
  start: number;
  end: number;
  ours: string;
  theirs: string;
  /** What was there before both; git writes it only if told to. */
  base: string | null;
}

export type Choice = 'ours' | 'theirs' | 'both';

/** The whole file on either side, null where there is none. */
export interface Sides {
  ours: string | null;
  theirs: string | null;
}

interface Opened {
  start: number;
  length: number;
  /** Where each part begins; those that have not begun are -1. */
  ours: number;
  base: number;
  theirs: number;
  /** Where the markers begin that end `ours` and `base`. */
  oursEnd: number;
  baseEnd: number;
}

// Seven signs or more at the beginning of a line; all of a place are of the same length.
const MARKER = /^(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?$/;

/** A block that one of the sides has itself is a sample of a conflict, not a conflict. */
export function hunksOf(text: string, { ours, theirs }: Sides): Hunk[] {
  const hunks: Hunk[] = [];
  let open: Opened | null = null;
  let at = 0;
  for (const line of text.split('\n')) {
    const next = Math.min(text.length, at + line.length + 1);
    const run = MARKER.exec(line)?.[1] ?? '';
    if (run.startsWith('<')) {
      open = { start: at, length: run.length, ours: next, base: -1, theirs: -1, oursEnd: -1, baseEnd: -1 };
    } else if (open && run.length === open.length) {
      if (run.startsWith('>') && open.theirs >= 0) {
        const block = text.slice(open.start, at + line.length);
        if (!ours?.includes(block) && !theirs?.includes(block)) hunks.push(hunkOf(text, open, at, next));
        open = null;
      } else mark(open, run, at, next);
    }
    at = next;
  }
  return hunks;
}

function mark(open: Opened, run: string, at: number, next: number): void {
  if (run.startsWith('|') && open.base < 0 && open.theirs < 0) {
    open.oursEnd = at;
    open.base = next;
  } else if (run.startsWith('=') && open.theirs < 0) {
    if (open.base < 0) open.oursEnd = at;
    else open.baseEnd = at;
    open.theirs = next;
  }
}

const hunkOf = (text: string, open: Opened, at: number, end: number): Hunk => ({
  start: open.start,
  end,
  ours: text.slice(open.ours, open.oursEnd),
  theirs: text.slice(open.theirs, at),
  base: open.base < 0 ? null : text.slice(open.base, open.baseEnd),
});

/** The text with one place decided. The target's lines come first when both are kept: the task was built on them. */
export function chosen(text: string, index: number, choice: Choice, sides: Sides): string {
  const hunk = hunksOf(text, sides)[index];
  if (!hunk) return text;
  const kept = choice === 'ours' ? hunk.ours : choice === 'theirs' ? hunk.theirs : hunk.theirs + hunk.ours;
  const last = choice === 'theirs' ? sides.theirs : sides.ours;
  // git ends every part with a newline. A file that ends without one goes on doing so.
  const isBare = hunk.end === text.length && last !== null && !last.endsWith('\n');
  return text.slice(0, hunk.start) + (isBare ? kept.replace(/\r?\n$/, '') : kept) + text.slice(hunk.end);
}

/** What stood at each place before both; null where it cannot be told. */
export function basesOf(text: string, hunks: Hunk[], base: string | null): (string | null)[] {
  if (base === null) return hunks.map((hunk) => hunk.base);
  // With the task's side at each place, the lines before and after a place say where it was.
  const lines: string[] = [];
  const ranges: [begin: number, end: number][] = [];
  let at = 0;
  const take = (part: string) => {
    if (part !== '') for (const line of part.replace(/\n$/, '').split('\n')) lines.push(line);
  };
  for (const { start, end, ours } of hunks) {
    take(text.slice(at, start));
    const begin = lines.length;
    take(ours);
    ranges.push([begin, lines.length]);
    at = end;
  }
  take(text.slice(at));
  const old = base.replace(/\n$/, '').split('\n');
  const matches = matchLines(old, lines);
  return hunks.map((hunk, index) => {
    if (hunk.base !== null || !matches) return hunk.base;
    const [begin, end] = ranges[index]!;
    const before = matches.subarray(0, begin).findLast((match) => match >= 0) ?? -1;
    const after = matches.subarray(end).find((match) => match >= 0) ?? old.length;
    return old
      .slice(before + 1, after)
      .map((line) => `${line}\n`)
      .join('');
  });
}
