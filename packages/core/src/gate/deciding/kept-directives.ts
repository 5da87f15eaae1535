import { directiveIn } from './own-lines.ts';

/** In a file with more of them nothing is left out, so that a hostile file is examined quickly. */
const MOST = 200;
/** Which part of the words of a line must be the same. */
const SIMILAR = 0.6;

interface Line {
  at: number;
  /** `# type: ignore`, without what follows. */
  mark: string;
  /** What it concerns; empty: everything. */
  rules: string[];
  words: string[];
}

/**
 * Both texts without directives that were there before and concern no more than they did: the code of their line is the same
 * or nearly so, and no check is added to what they turn off. The rest of each line stays.
 */
export function withoutKept(old: string, now: string): [old: string, now: string] {
  const [before, after] = [old.split('\n'), now.split('\n')];
  const [gone, fresh] = [marked(before, new Set(after)), marked(after, new Set(before))];
  if (gone.length === 0 || fresh.length === 0 || gone.length > MOST || fresh.length > MOST) return [old, now];
  const taken = new Set<Line>();
  for (const line of fresh) {
    const match = gone.find((each) => !taken.has(each) && covers(each, line));
    if (!match) continue;
    taken.add(match);
    before[match.at] = before[match.at]!.replace(match.mark, ' ');
    after[line.at] = after[line.at]!.replace(line.mark, ' ');
  }
  return [before.join('\n'), after.join('\n')];
}

/** Lines with a directive for themselves that the other text does not have. */
function marked(lines: readonly string[], others: ReadonlySet<string>): Line[] {
  return lines.flatMap((line, at) => {
    if (others.has(line)) return [];
    const found = directiveIn(line);
    if (!found) return [];
    const words = line.slice(0, found.index).match(/\w+/g) ?? [];
    // Without code before it, it may be for the next line or for the whole file.
    return words.length < 2 ? [] : [{ at, mark: found.text, rules: rulesIn(found.rest), words }];
  });
}

/** `[a, b]`, `: a,b`, ` a, b -- why`, `(a)`. Words that are no rules make the list longer, which is safe. */
const rulesIn = (rest: string): string[] =>
  (rest.split(/\]|\)| -- | #|\*\//)[0] ?? '').split(/[\s,:[(]+/).filter((rule) => rule !== '');

function covers(old: Line, now: Line): boolean {
  if (old.mark.replace(/\s/g, '') !== now.mark.replace(/\s/g, '')) return false;
  const isNoWider =
    old.rules.length === 0 || (now.rules.length > 0 && now.rules.every((rule) => old.rules.includes(rule)));
  return isNoWider && isSimilar(old.words, now.words);
}

function isSimilar(old: readonly string[], now: readonly string[]): boolean {
  const left = new Map<string, number>();
  for (const word of old) left.set(word, (left.get(word) ?? 0) + 1);
  let same = 0;
  for (const word of now) {
    const count = left.get(word) ?? 0;
    if (count > 0) same += 1;
    left.set(word, count - 1);
  }
  return same >= SIMILAR * Math.max(old.length, now.length);
}
