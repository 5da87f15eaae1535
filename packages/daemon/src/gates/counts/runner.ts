import type { GateCounts } from '@tidemill/contract';

/** How the summary of one test runner is read. */
export interface Runner {
  name: string;
  /** The lines of its summary. Lines that follow each other, with at most one empty line between them, belong together. */
  line: RegExp;
  /** It prints a summary for each part, and all of them count. Otherwise the last one counts. */
  isPartial?: boolean;
  /** Counts only where no other runner is found: others print such lines, too. */
  isWeak?: boolean;
  /** Null: these lines are no summary of it. */
  read(lines: string[]): GateCounts | null;
}

export const NONE: GateCounts = { passed: 0, failed: 0, skipped: 0 };

export const sum = (a: GateCounts, b: GateCounts): GateCounts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

/** The number before (`3 passed`) or behind (`Passed: 3`) one of these words; of several lines, the last counts. */
export function figure(lines: string[], ...words: string[]): number {
  return words.reduce((total, word) => {
    const pattern = new RegExp(`(?:^|[^\\w.])(?:(\\d+) +${word}(?!\\w)|${word}[:=]? +(\\d+)|${word}=(\\d+))`, 'i');
    const found = lines.map((line) => pattern.exec(line)).findLast((match) => match !== null);
    return total + Number(found?.[1] ?? found?.[2] ?? found?.[3] ?? 0);
  }, 0);
}

/** The first group of the last line that matches; null when none does. */
export const lastMatch = (lines: string[], pattern: RegExp): RegExpExecArray | null =>
  lines.map((line) => pattern.exec(line)).findLast((match) => match !== null) ?? null;
