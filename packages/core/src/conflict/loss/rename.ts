import { align } from './align.ts';
import { isWord, type TextLine } from './token.ts';

/** Names that the task replaced everywhere in a file: old name, new name. */
export type Renames = ReadonlyMap<string, string>;

const NAME = /^[\p{L}_$][\p{L}\p{N}_$]+$/u;

/**
 * Names that the task renamed. A target's line that uses the old name is kept if it is there with the new one. The old name
 * must be gone from the file, the new one must be new in it, and every place must agree.
 */
export function renamesIn(base: TextLine[], ours: TextLine[], found: Map<string, string | null> = new Map()) {
  const [before, after] = [wordsOf(base), wordsOf(ours)];
  const matches = align(
    base.map(({ key }) => key),
    ours.map(({ key }) => key),
  );
  let [b, o] = [0, 0];
  for (let at = 0; at <= base.length; at += 1) {
    const to = at < base.length ? matches[at]! : ours.length;
    if (to < 0) continue;
    // Only a part with as many lines as before shows which line became which.
    if (at - b === to - o) for (let i = 0; i < at - b; i += 1) compare(base[b + i]!, ours[o + i]!);
    [b, o] = [at + 1, to + 1];
  }
  return found;

  function compare({ tokens: old }: TextLine, { tokens: now }: TextLine): void {
    if (old.length !== now.length) return;
    old.forEach(({ text }, i) => {
      const other = now[i]!.text;
      if (text === other || !NAME.test(text) || !NAME.test(other) || after.has(text) || before.has(other)) return;
      found.set(text, found.has(text) && found.get(text) !== other ? null : other);
    });
  }
}

/** Without the names whose places disagree. */
export const agreedRenames = (found: Map<string, string | null>): Renames =>
  new Map([...found].flatMap(([old, now]) => (now === null ? [] : [[old, now] as const])));

const wordsOf = (lines: TextLine[]): Set<string> =>
  new Set(lines.flatMap(({ tokens }) => tokens.filter(isWord).map(({ text }) => text)));
