import { type Language, languageOf } from './language.ts';
import { masked } from './mask.ts';
import { OPERATORS, SHELL_OPERATORS } from './operators.ts';

/**
 * A small fault in one line. `value`: the program runs on and computes something else, so only a check of the result
 * notices it. `stop`: it ends with an error. `syntax`: the file can no longer be read.
 */
export interface Mutant {
  file: string;
  /** Counted from 1. */
  line: number;
  /** The whole line. */
  before: string;
  /** What replaces it; may have several lines. */
  after: string;
  kind: 'value' | 'stop' | 'syntax';
}

/** Longer lines are generated, and a larger file has more than enough lines anyway. */
const LONGEST_LINE = 400;
const LONGEST_TEXT = 500_000;
/** A fault here may never end, or changes nothing that runs. */
const NOT_HERE =
  /^\s*(?:\}?\s*(?:while|for|foreach|do|until|loop)\b|import\b|from\b|export\s+(?:\*|\{)|#\s*(?:include|if|ifn?def|pragma)|package\b|using\b|use\b|mod\b|@|interface\b|type\s+\w+\s*(?:<[^>]*>)?\s*=)|\brequire\s*\(/;
/** Counting up to an end: a change may never reach it. */
const COUNTS = /\+\+|--\w|\w--|[-+*/%]=/;

/**
 * The faults that can be planted in a file, in the order of its lines. Only in `lines` if they are given, as counted from
 * 1. Empty for a file that is no program.
 */
export function mutantsOf(file: string, text: string, lines?: ReadonlySet<number>): Mutant[] {
  const language = languageOf(file);
  if (!language || text.length > LONGEST_TEXT || text.includes('\0')) return [];
  const { code, strings } = masked(text, language);
  const found: Mutant[] = [];
  let start = 0;
  const codeLines = code.split('\n');
  let broken = false;
  for (const [i, before] of text.split('\n').entries()) {
    const line = i + 1;
    const from = start;
    start += before.length + 1;
    const coded = codeLines[i] ?? '';
    if (coded.trim() === '' || before.length > LONGEST_LINE || (lines && !lines.has(line))) continue;
    const ends = strings.filter((end) => end >= from && end < start).map((end) => end - from);
    const make = (after: string, kind: Mutant['kind']) => found.push({ file, line, before, after, kind });
    if (!NOT_HERE.test(coded)) for (const after of valuesOf(before, coded, ends, language)) make(after, 'value');
    if (language.stop !== '' && language.begins.test(coded)) make(withStop(before, codeLines[i + 1], language), 'stop');
    // Behind the first line of code: what stands above may have to be first.
    if (!broken) make(`${before}\n)]}`, 'syntax');
    broken = true;
  }
  return found;
}

/** The lines that compute something else. */
function valuesOf(before: string, coded: string, ends: number[], language: Language): string[] {
  const made = new Set<string>();
  const replace = (at: number, length: number, by: string) => {
    const after = before.slice(0, at) + by + before.slice(at + length);
    if (after !== before) made.add(after);
  };
  const operators = language.isShell ? SHELL_OPERATORS : OPERATORS;
  for (const { pattern, by, isCounting } of operators)
    for (const match of coded.matchAll(pattern)) {
      if (isCounting && COUNTS.test(coded)) continue;
      const [whole] = match;
      replace(match.index, whole.length, by(whole));
    }
  // A string that stands alone is documentation.
  if (/\w/.test(coded)) for (const end of ends) replace(end, 0, '~');
  const returned =
    /^(\s*(?:.*[;{}]\s*)?return\s+)([^;{}]+?)(;?\s*\}?\s*)$/d.exec(coded)?.indices?.[2] ?? arrowResult(coded);
  if (returned && language.returns) {
    const [from, to] = returned;
    replace(from, to - from, language.returns(before.slice(from, to)));
  }
  return [...made];
}

/**
 * The result is left out: of all faults that change a value the easiest to notice. An assertion that lets every number or
 * text pass still fails on it.
 */
export const isEmptyResult = ({ before, after }: Pick<Mutant, 'before' | 'after'>): boolean =>
  EMPTY.test(after) && !EMPTY.test(before);
const EMPTY = /(?:\breturn|=>)\s+(?:null|None|nil)\b/;

/** Where the expression stands that a function without braces returns: `(word) => word.trim()`. */
function arrowResult(coded: string): [from: number, to: number] | null {
  // The type of a member, as in an interface.
  if (/^[^=]*:[^=]*=>.*;\s*$/.test(coded)) return null;
  for (let at = coded.lastIndexOf('=>'); at > 0; at = coded.lastIndexOf('=>', at - 1)) {
    const [, space = '', expression = ''] = /^(\s*)(\S.*?)[;,]?\s*$/.exec(coded.slice(at + 2)) ?? [];
    const from = at + 2 + space.length;
    if (expression !== '' && !expression.startsWith('{') && isWhole(expression))
      return [from, from + expression.length];
  }
  return null;
}

/** Every bracket that begins in it ends in it. */
function isWhole(expression: string): boolean {
  let depth = 0;
  for (const sign of expression) {
    if ('([{'.includes(sign)) depth += 1;
    if (')]}'.includes(sign)) depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

function withStop(before: string, next: string | undefined, { stop }: Language): string {
  const own = /^\s*/.exec(before)![0];
  const inner = /^\s+/.exec(next ?? '')?.[0] ?? `${own}    `;
  return `${before}\n${inner.length > own.length ? inner : `${own}    `}${stop}`;
}

/** The text with the fault in it. The line is found by its content if it has moved. Null: it is not there any more. */
export function planted(text: string, { line, before, after }: Mutant): string | null {
  const lines = text.split('\n');
  const found =
    lines[line - 1] === before
      ? line - 1
      : lines
          .flatMap((content, i) => (content === before ? [i] : []))
          .sort((one, other) => Math.abs(one - line + 1) - Math.abs(other - line + 1))[0];
  if (found === undefined) return null;
  return lines.with(found, after).join('\n');
}

/** For people: "line 12: `a < b` became `a >= b`". */
export function mutantText({ line, before, after, kind }: Mutant): string {
  const short = (text: string) => `\`${text.trim().slice(0, 120)}\``;
  if (kind === 'syntax') return `line ${line} was followed by a syntax error`;
  const added = after.startsWith(`${before}\n`) ? after.slice(before.length + 1) : null;
  return added === null
    ? `line ${line}: ${short(before)} became ${short(after)}`
    : `line ${line}: ${short(before)} was followed by ${short(added)}`;
}
