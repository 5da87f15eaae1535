import type { Renames } from './rename.ts';
import { isSignificant, type TextLine, type TextToken } from './token.ts';

/** A piece of the target to find: its tokens, and which of them must be there. */
export interface Piece {
  tokens: TextToken[];
  required: boolean[];
}

interface Range {
  from: number;
  to: number;
}

interface Combined extends Range {
  /** Of a combined line, at least this share must be the target's. */
  share: number;
  /** Whether a line of the task's own may have what is required. */
  mayBeTasks: boolean;
  /** All of it must be in one line. */
  isOneLine?: boolean;
}

/** A line of a result. Null: something accounts for it. */
export type RemainingLine = { line: TextLine; isTasks: boolean } | null;

/** What searches share: the task's new names, and how many comparisons are left. */
export interface SearchMeans {
  renames: Renames;
  budget: { steps: number };
}

/** Comparisons for one merge. With more, a line counts as kept only where it is whole and in place. */
export const MOST_STEPS = 5_000_000;
/** Lines longer than this, such as minified code, are compared as a whole. */
const LONGEST_PIECE = 400;

/**
 * The lines of a result that nothing accounts for yet. A piece that is found uses its tokens up, so that one line is not
 * counted twice.
 */
export class Remains {
  readonly #tokens: { token: TextToken; line: number; isTasks: boolean; isFree: boolean }[] = [];
  /** For each line, its first token. */
  readonly #starts: number[] = [];
  readonly #places = new Map<string, number[]>();
  readonly #renames: Renames;
  readonly #budget: SearchMeans['budget'];

  constructor(lines: readonly RemainingLine[], { renames, budget }: SearchMeans) {
    this.#renames = renames;
    this.#budget = budget;
    lines.forEach((line, at) => {
      this.#starts.push(this.#tokens.length);
      for (const token of line?.line.tokens ?? []) {
        const places = this.#places.get(token.text) ?? [];
        places.push(this.#tokens.length);
        this.#places.set(token.text, places);
        this.#tokens.push({ token, line: at, isTasks: line!.isTasks, isFree: true });
      }
    });
    this.#starts.push(this.#tokens.length);
  }

  /** Finds the whole piece without anything in between, however it is wrapped. */
  takeRun({ tokens }: Piece, mayBeTasks: boolean, lines?: Range): boolean {
    const wanted = withoutTrailingCommas(tokens);
    const [first] = wanted;
    if (!first) return true;
    const [low, high] = [this.#start(lines?.from ?? 0), this.#start(lines?.to ?? this.#starts.length - 1)];
    for (const place of this.#placesOf(first)) {
      if (!this.#mayGoOn(1)) return false;
      if (place < low || place >= high) continue;
      const run = this.#runAt(place, wanted, high);
      if (!run || (!mayBeTasks && run.every((at) => this.#tokens[at]!.isTasks))) continue;
      for (const at of run) this.#tokens[at]!.isFree = false;
      return true;
    }
    return false;
  }

  #runAt(place: number, wanted: TextToken[], high: number): number[] | null {
    const run: number[] = [];
    let at = place;
    for (const token of wanted) {
      // A formatter adds a comma behind the last item of a wrapped list.
      if (this.#isTrailingComma(at) && token.text !== ',') at += 1;
      if (at >= high || !this.#isMatch(token, at)) return null;
      run.push(at);
      at += 1;
    }
    return run;
  }

  /**
   * Finds lines that contain every required token in order, and enough of the rest: the piece was combined with another
   * change. Returns the tokens of these lines, or null.
   */
  takeCombined({ tokens, required }: Piece, { from, to, share, mayBeTasks, isOneLine }: Combined): TextToken[] | null {
    if (tokens.length > LONGEST_PIECE || !this.#mayGoOn(1)) return null;
    const needed = tokens.filter((_, i) => required[i]);
    const isRequiredAt = (at: number) => mayBeTasks || !this.#tokens[at]!.isTasks;
    for (const line of this.#linesWith(needed, from, to)) {
      for (let first = line; first >= from; first -= 1) {
        const isLong = this.#start(line + 1) - this.#start(first) > 2 * tokens.length + 8;
        if (first < line && (isLong || isOneLine)) break;
        for (let end = line + 1; end <= to; end += 1) {
          const [low, high] = [this.#start(first), this.#start(end)];
          if (end - first > 1 && (high - low > 2 * tokens.length + 8 || isOneLine)) break;
          if (!this.#mayGoOn(tokens.length * (high - low))) return null;
          const found = this.#heaviest(tokens, (i, at) => required[i]! && isRequiredAt(at), low, high);
          const isWhole = found && needed.length === found.filter(({ isRequired }) => isRequired).length;
          if (!isWhole || found.length < share * tokens.length) continue;
          for (const { at } of found) this.#tokens[at]!.isFree = false;
          return this.#tokens.slice(low, high).map(({ token }) => token);
        }
      }
    }
    return null;
  }

  /** The lines with the rarest of these tokens; all lines when none is needed. */
  #linesWith(needed: TextToken[], from: number, to: number): Iterable<number> {
    const [low, high] = [this.#start(from), this.#start(to)];
    let rarest: number[] | null = null;
    for (const token of needed) {
      const all = this.#placesOf(token);
      if (rarest !== null && all.length > 4 * rarest.length) continue;
      if (!this.#mayGoOn(all.length)) return [];
      const places = all.filter((at) => at >= low && at < high && this.#isMatch(token, at));
      if (rarest === null || places.length < rarest.length) rarest = places;
      if (rarest.length === 0) break;
    }
    if (rarest !== null) return new Set(rarest.map((at) => this.#tokens[at]!.line));
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  }

  #mayGoOn(steps: number): boolean {
    this.#budget.steps -= steps;
    return this.#budget.steps > 0;
  }

  #start = (line: number): number => this.#starts[Math.max(0, Math.min(line, this.#starts.length - 1))]!;

  #placesOf({ text }: TextToken): number[] {
    const [same, renamed] = [this.#places.get(text) ?? [], this.#places.get(this.#renames.get(text) ?? '') ?? []];
    return renamed.length === 0 ? same : [...same, ...renamed];
  }

  /** Code that is now a comment is not kept. */
  #isMatch(wanted: TextToken, at: number): boolean {
    const { token, isFree } = this.#tokens[at]!;
    if (!isFree || (token.isComment && !wanted.isComment)) return false;
    return token.text === wanted.text || this.#renames.get(wanted.text) === token.text;
  }

  #isTrailingComma(at: number): boolean {
    const [comma, next] = [this.#tokens[at]?.token.text, this.#tokens[at + 1]?.token.text];
    return comma === ',' && next !== undefined && CLOSING.test(next);
  }

  /** The common subsequence with the most required tokens. It is as long as possible. */
  #heaviest(
    tokens: TextToken[],
    isRequired: (i: number, at: number) => boolean,
    low: number,
    high: number,
  ): { at: number; isRequired: boolean }[] {
    const [rows, columns] = [tokens.length, high - low];
    const weight = (i: number, j: number) => (isRequired(i, low + j) ? rows + 1 : 1);
    const best = Array.from({ length: rows + 1 }, () => new Int32Array(columns + 1));
    for (let i = rows - 1; i >= 0; i -= 1)
      for (let j = columns - 1; j >= 0; j -= 1) {
        const skip = Math.max(best[i + 1]![j]!, best[i]![j + 1]!);
        const take = this.#isMatch(tokens[i]!, low + j) ? best[i + 1]![j + 1]! + weight(i, j) : 0;
        best[i]![j] = Math.max(skip, take);
      }
    const found: { at: number; isRequired: boolean }[] = [];
    for (let i = 0, j = 0; i < rows && j < columns; ) {
      const isTaken = this.#isMatch(tokens[i]!, low + j) && best[i]![j] === best[i + 1]![j + 1]! + weight(i, j);
      if (isTaken) {
        found.push({ at: low + j, isRequired: isRequired(i, low + j) });
        i += 1;
        j += 1;
      } else if (best[i]![j] === best[i + 1]![j]) i += 1;
      else j += 1;
    }
    return found;
  }
}

const CLOSING = /^[)\]}]$/;

/** Also none at the end: the last item of a list has one or not. */
function withoutTrailingCommas(tokens: TextToken[]): TextToken[] {
  const end = tokens.findLastIndex(({ text }) => text !== ',' && text !== ';') + 1;
  const kept = end > 0 ? tokens.slice(0, end) : tokens;
  return kept.filter(({ text }, i) => !(text === ',' && CLOSING.test(kept[i + 1]?.text ?? '')));
}

export const requiredTokens = (tokens: TextToken[], fresh: boolean[]): boolean[] =>
  tokens.map((token, i) => fresh[i]! && isSignificant(token));
