import { align, inverse } from './align.ts';
import { isSignificant, type TextLine, type TextToken } from './token.ts';

/** A line of the merge in which the target wins every conflict. */
export interface Expected {
  line: TextLine;
  /** Its index in the target; -1 for a line of the task. */
  at: number;
  /** The target added or changed it, and the task has no such line. */
  isNew: boolean;
  /** Its tokens that the base does not have there. */
  fresh: boolean[];
  /** Tokens that the target removed from this line. */
  gone: TextToken[];
}

/** A line that the target deleted. */
export interface Deleted {
  /** Index in the base. */
  at: number;
  line: TextLine;
  /** What the task made of it: the same line, or a changed one. */
  ours: TextLine;
}

export interface Merge {
  lines: Expected[];
  deleted: Deleted[];
  /** Lines that the task added or changed, by key. */
  addedByTask: Map<string, number>;
}

/** In a part with more lines than this, nobody can say which line became which. */
const MOST_COMPARED = 60;

/** Merges line by line. Where both sides changed the same place, the target's lines are expected. */
export function expectedMerge(base: TextLine[], ours: TextLine[], target: TextLine[]): Merge {
  const [toTarget, toOurs] = [alignLines(base, target), alignLines(base, ours)];
  const fromOurs = inverse(toOurs, ours.length);
  const merge: Merge = { lines: [], deleted: [], addedByTask: new Map() };
  ours.forEach(({ key }, at) => {
    if (fromOurs[at]! < 0) merge.addedByTask.set(key, (merge.addedByTask.get(key) ?? 0) + 1);
  });
  let [b, o, t] = [0, 0, 0];
  for (let at = 0; at <= base.length; at += 1) {
    const isEnd = at === base.length;
    const [nextT, nextO] = isEnd ? [target.length, ours.length] : [toTarget[at]!, toOurs[at]!];
    if (nextT < 0 || nextO < 0) continue;
    const part = { base: base.slice(b, at), ours: ours.slice(o, nextO), target: target.slice(t, nextT) };
    addPart(merge, part, { b, t });
    if (!isEnd) merge.lines.push(plain(target[nextT]!, nextT));
    [b, o, t] = [at + 1, nextO + 1, nextT + 1];
  }
  return merge;
}

export const alignLines = (from: TextLine[], to: TextLine[]): Int32Array =>
  align(
    from.map(({ key }) => key),
    to.map(({ key }) => key),
  );

const plain = (line: TextLine, at: number): Expected => ({ line, at, isNew: false, fresh: [], gone: [] });
const isSame = (a: TextLine[], b: TextLine[]) => a.length === b.length && a.every(({ key }, i) => key === b[i]!.key);

function addPart(
  merge: Merge,
  { base, ours, target }: Record<'base' | 'ours' | 'target', TextLine[]>,
  from: { b: number; t: number },
): void {
  if (isSame(base, target)) {
    merge.lines.push(...ours.map((line) => plain(line, -1)));
    return;
  }
  const toTarget = alignLines(base, target);
  const fromBase = inverse(toTarget, target.length);
  const fromOurs = inverse(alignLines(ours, target), target.length);
  const fresh = freshTokens(base, target);
  const unmatched = base.filter((_, i) => toTarget[i]! < 0);
  const changed = unmatched.length > MOST_COMPARED ? [] : unmatched;
  const left = counted(target.flatMap(({ tokens }) => tokens));
  for (const { text } of base.flatMap(({ tokens }) => tokens)) left.set(text, (left.get(text) ?? 0) - 1);
  target.forEach((line, i) => {
    const isNew = fromBase[i]! < 0 && fromOurs[i]! < 0;
    const isShorter = isNew && !line.tokens.some((token, j) => fresh[i]![j] && isSignificant(token));
    const old = isShorter ? (changed.find((other) => isDescendant(other, line)) ?? null) : null;
    const gone = old ? goneTokens(old, line, left) : [];
    merge.lines.push({ line, at: from.t + i, isNew, fresh: fresh[i]!, gone });
  });
  addDeleted(merge, { base, ours, target }, toTarget, from.b);
}

function addDeleted(
  merge: Merge,
  { base, ours, target }: Record<'base' | 'ours' | 'target', TextLine[]>,
  toTarget: Int32Array,
  from: number,
): void {
  const toOurs = alignLines(base, ours);
  base.forEach((line, i) => {
    if (toTarget[i]! >= 0) return;
    if (toOurs[i]! >= 0) merge.deleted.push({ at: from + i, line, ours: ours[toOurs[i]!]! });
    // The target only deletes here, and the task changed what is deleted.
    else if (target.length === 0 && Math.max(base.length, ours.length) <= MOST_COMPARED) {
      const changed = ours.find((other) => isDescendant(line, other));
      if (changed) merge.deleted.push({ at: from + i, line, ours: changed });
    }
  });
}

/** For each target's line, which of its tokens the base does not have in this part. */
function freshTokens(base: TextLine[], target: TextLine[]): boolean[][] {
  const texts = (lines: TextLine[]) => lines.flatMap(({ tokens }) => tokens.map(({ text }) => text));
  const fromBase = inverse(align(texts(base), texts(target)), texts(target).length);
  let at = 0;
  return target.map(({ tokens }) => tokens.map(() => fromBase[at++]! < 0));
}

/** Whether more than half of the old line's tokens are still there. */
function isDescendant(old: TextLine, line: TextLine): boolean {
  const texts = ({ tokens }: TextLine) => tokens.map(({ text }) => text);
  const kept = align(texts(old), texts(line)).filter((to) => to >= 0).length;
  return kept * 2 > Math.min(old.tokens.length, line.tokens.length) && kept > 1;
}

/** Tokens of the old line that neither the new line nor the rest of the part has. */
function goneTokens(old: TextLine, line: TextLine, left: Map<string, number>): TextToken[] {
  const now = counted(line.tokens);
  return old.tokens.filter((token) => {
    const count = now.get(token.text) ?? 0;
    now.set(token.text, count - 1);
    return count <= 0 && isSignificant(token) && (left.get(token.text) ?? 0) < 0;
  });
}

export function counted(tokens: TextToken[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of tokens) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
