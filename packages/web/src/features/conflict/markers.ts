import { matchLines } from './changed-lines.ts';

/** A conflicting place, as git marks it in the file. */
export interface Hunk {
  /** Offset of the first marker, and of the first character after the last marker. */
  start: number;
  end: number;
  ours: string;
  theirs: string;
  /** The common base; git writes it only if configured to. */
  base: string | null;
}

export type Choice = 'ours' | 'theirs' | 'both';

/** The whole file on each side; null if it does not exist there. */
export interface Sides {
  ours: string | null;
  theirs: string | null;
}

interface Opened {
  start: number;
  length: number;
  /** Start of each part; -1 if it was not reached yet. */
  ours: number;
  base: number;
  theirs: number;
  /** Start of the markers that end `ours` and `base`. */
  oursEnd: number;
  baseEnd: number;
}

// Seven or more characters at the start of a line; all markers of a place have the same length.
const MARKER = /^(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?$/;

/** Skips marker-like blocks that are part of one side's own text. */
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

/** The text with one place resolved. If both are kept, the target's lines come first because the task builds on them. */
export function chosen(text: string, index: number, choice: Choice, sides: Sides): string {
  const hunk = hunksOf(text, sides)[index];
  if (!hunk) return text;
  const kept = choice === 'ours' ? hunk.ours : choice === 'theirs' ? hunk.theirs : hunk.theirs + hunk.ours;
  const last = choice === 'theirs' ? sides.theirs : sides.ours;
  // git ends every part with a newline. A file without a final newline stays without it.
  const isBare = hunk.end === text.length && last !== null && !last.endsWith('\n');
  return text.slice(0, hunk.start) + (isBare ? kept.replace(/\r?\n$/, '') : kept) + text.slice(hunk.end);
}

/** The common base of each place; null if it is unknown. */
export function basesOf(text: string, hunks: Hunk[], base: string | null): (string | null)[] {
  if (base === null) return hunks.map((hunk) => hunk.base);
  // With the task's lines filled in, the lines before and after a place locate it in the base.
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
