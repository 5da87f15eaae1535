import { inverse } from './align.ts';
import { alignLines, counted, type Deleted, type Expected, expectedMerge, type Merge } from './expected.ts';
import { type Piece, Remains, requiredTokens, type SearchMeans } from './remains.ts';
import { isSignificant, saysSomething, type TextLine, type TextToken } from './token.ts';

/** The versions of one file as lines; empty where there is no such file. */
export interface TextSides {
  base: TextLine[];
  ours: TextLine[];
  target: TextLine[];
  result: TextLine[];
}

/** A line of the target (or, if it deleted the line, of the base), counted from 1. */
export interface LostLine {
  line: number;
  text: string;
}

export interface TextLoss {
  /** Lines that the target added or changed and the result does not have. */
  lost: LostLine[];
  /** Lines that the target deleted and the result has again. */
  back: LostLine[];
}

/** What a search may use besides the file itself. */
export interface Means extends SearchMeans {
  /** What the resolution wrote in other files. */
  elsewhere: Remains[];
}

/** Of a line that was combined with the task's change, at least this much must be the target's. */
const SHARE_IN_PLACE = 0.5;
/** Of a line that was combined and also moved. */
const SHARE_MOVED = 0.8;

/**
 * What the target changed since the base and the result does not have. The result is compared with the merge in which the
 * target wins every conflict:
 *
 *   the same line at its place, re-indented or re-wrapped      kept
 *   combined with the task's change of the same line           kept, if every token that the target brought is there
 *   elsewhere in the file, or in another file (`elsewhere`)    kept; each line there counts once
 *   only in a comment, or only as the task's own similar line  lost
 *
 * White space is never compared, nor are braces, commas, semicolons and quotes alone.
 */
export function textLoss({ base, ours, target, result }: TextSides, { elsewhere, ...means }: Means): TextLoss {
  const merge = expectedMerge(base, ours, target);
  const expected = merge.lines;
  const toResult = alignLines(
    expected.map(({ line }) => line),
    result,
  );
  preferNew(expected, toResult);
  const search = new Search({ merge, ours, result, toResult, elsewhere, ...means });
  const lost = expected.flatMap((each, at) =>
    each.isNew && search.isLost(each, at) ? [shown(each.line, each.at)] : [],
  );
  return { lost, back: search.resurrected().map(({ line, at }) => shown(line, at)) };
}

const shown = ({ text }: TextLine, at: number): LostLine => ({ line: at + 1, text });

/** Lines on each side in which an equal line is looked for. */
const NEAR = 100;

/**
 * Of two equal lines near each other, one of the base and one of the target's, only one may be left. The result then has
 * the old one, and the target's is lost.
 */
function preferNew(expected: Expected[], toResult: Int32Array): void {
  const isUsed = new Set<number>();
  expected.forEach(({ line, isNew }, at) => {
    if (!isNew || toResult[at]! < 0 || !saysSomething(line)) return;
    const old = [-1, 1].map((step) => oldTwin(expected, toResult, at, step)).find((i) => i >= 0 && !isUsed.has(i));
    if (old === undefined) return;
    isUsed.add(old);
    toResult[at] = -1;
  });
}

/** An equal line of the base that the result does not have. Only new lines are between them. */
function oldTwin(expected: Expected[], toResult: Int32Array, at: number, step: number): number {
  const { key } = expected[at]!.line;
  for (let i = at + step; expected[i] && Math.abs(i - at) <= NEAR; i += step) {
    const { line, isNew } = expected[i]!;
    if (!isNew && line.key !== key) return -1;
    if (!isNew && toResult[i]! < 0) return i;
  }
  return -1;
}

interface Given extends Means {
  merge: Merge;
  ours: TextLine[];
  result: TextLine[];
  toResult: Int32Array;
}

class Search {
  readonly #given: Given;
  /** For each line of the result, the task's line it is; -1 if the task has no such line. */
  readonly #fromOurs: Int32Array;
  readonly #fromExpected: Int32Array;
  readonly #gaps: { from: number; to: number }[];
  /** All lines that are not in the expected merge. */
  readonly #remains: Remains;

  constructor(given: Given) {
    this.#given = given;
    const { ours, result, toResult, renames, budget } = given;
    this.#gaps = this.#findGaps(given);
    this.#fromOurs = inverse(alignLines(ours, result), result.length);
    this.#fromExpected = inverse(toResult, result.length);
    this.#remains = new Remains(
      result.map((line, at) => (this.#fromExpected[at]! < 0 ? { line, isTasks: this.#fromOurs[at]! >= 0 } : null)),
      { renames, budget },
    );
  }

  isLost({ line, fresh, gone }: Expected, at: number): boolean {
    const { toResult, result, merge, elsewhere } = this.#given;
    const there = toResult[at]! >= 0 ? result[toResult[at]!]! : null;
    if (there) return isNowComment(line.tokens, there.tokens);
    const piece: Piece = { tokens: line.tokens, required: requiredTokens(line.tokens, fresh) };
    const gap = this.#gaps[at]!;
    if (!piece.required.includes(true)) return gone.length > 0 && this.#isGoneBack(piece, gone, gap);
    if (!saysSomething(line)) return false;
    const isTasksToo = merge.addedByTask.has(line.key);
    const isKept =
      this.#remains.takeRun(piece, true, gap) ||
      this.#isCombined(piece, { ...gap, share: SHARE_IN_PLACE }) ||
      this.#isPartOfTasks(piece, gap) ||
      this.#remains.takeRun(piece, isTasksToo) ||
      this.#isCombined(piece, { from: 0, to: result.length, share: SHARE_MOVED }) ||
      elsewhere.some((other) => other.takeRun(piece, true));
    return !isKept;
  }

  /** The resolution wrote what the target brought, around what the task or the target has there. */
  #isCombined = (piece: Piece, where: { from: number; to: number; share: number }): boolean =>
    this.#remains.takeCombined(piece, { ...where, mayBeTasks: false }) !== null;

  /** One line of the task's contains the whole of the target's line, in order: the task made the same change and more. */
  #isPartOfTasks({ tokens }: Piece, gap: { from: number; to: number }): boolean {
    const all = { tokens, required: tokens.map(isSignificant) };
    return this.#remains.takeCombined(all, { ...gap, share: 0, mayBeTasks: true, isOneLine: true }) !== null;
  }

  /** The target only removed something from this line. It is undone if the line is there with all that was removed. */
  #isGoneBack(piece: Piece, gone: TextToken[], gap: { from: number; to: number }): boolean {
    const found = this.#remains.takeCombined(piece, { ...gap, share: SHARE_IN_PLACE, mayBeTasks: true });
    if (!found) return false;
    const there = counted(found.filter(({ isComment }) => !isComment));
    const wanted = counted(piece.tokens);
    return [...counted(gone)].every(([text, count]) => (there.get(text) ?? 0) >= (wanted.get(text) ?? 0) + count);
  }

  /** For each expected line, the lines of the result between its neighbours that are there. */
  #findGaps({ toResult, result }: Given): { from: number; to: number }[] {
    const gaps = Array.from(toResult, () => ({ from: 0, to: result.length }));
    for (let at = 1; at < gaps.length; at += 1)
      gaps[at]!.from = toResult[at - 1]! >= 0 ? toResult[at - 1]! + 1 : gaps[at - 1]!.from;
    for (let at = gaps.length - 2; at >= 0; at -= 1)
      gaps[at]!.to = toResult[at + 1]! >= 0 ? toResult[at + 1]! : gaps[at + 1]!.to;
    return gaps;
  }

  /** Lines that the target deleted and that are there, although nothing expected and nothing new of the task's is there. */
  resurrected(): Deleted[] {
    const { merge, result } = this.#given;
    const expected = new Set(merge.lines.map(({ line }) => line.key));
    const there = new Map<string, number>();
    result.forEach(({ key }, at) => {
      if (this.#fromExpected[at]! < 0) there.set(key, (there.get(key) ?? 0) + 1);
    });
    const changed = new Set(merge.deleted.flatMap(({ line, ours }) => (ours.key === line.key ? [] : [ours.key])));
    for (const [key, count] of merge.addedByTask) if (!changed.has(key)) there.set(key, (there.get(key) ?? 0) - count);
    const found = merge.deleted.filter(({ line, ours }) => {
      const count = there.get(ours.key) ?? 0;
      if (count <= 0 || !saysSomething(line)) return false;
      there.set(ours.key, count - 1);
      return true;
    });
    // A line that is common in the file counts only next to another one.
    const telling = new Set(found.filter(({ line }) => !expected.has(line.key)).map(({ at }) => at));
    return found.filter(({ at }) => [at, at - 1, at + 1, at - 2, at + 2].some((near) => telling.has(near)));
  }
}

const isNowComment = (wanted: TextToken[], there: TextToken[]): boolean =>
  wanted.some(({ isComment }, i) => !isComment && there[i]!.isComment);
