import type { FileCounts, TestCounts } from './count-reporter.ts';
import { type Requirement, unproven } from './requirements.ts';

/** More failed files than this are not bad luck. */
const MOST_REPEATED = 4;
const SHOWN = 10;

export const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

/** A run that fails without a failed test, or has no test at all, counts as one failure. */
export function judge(counts: TestCounts | null, exitCode: number | null, report: (text: string) => void): TestCounts {
  const { files, unhandled } = counts ?? { files: [], unhandled: 0 };
  const failed = sum(files.map((file) => file.failed.length)) + unhandled;
  const isEmpty = failed + sum(files.map((file) => file.passed)) === 0;
  if (!isEmpty && (exitCode === 0 || failed > 0)) return { files, unhandled };
  report(`FAILED vitest ended with exit code ${exitCode}${isEmpty ? ' and ran no test' : ''}`);
  return { files, unhandled: unhandled + 1 };
}

/** The files to run once more. None after an error that belongs to no file, which cannot be repeated. */
export function failedFiles({ files, unhandled }: TestCounts): string[] {
  const failed = files.filter((file) => file.failed.length > 0).map(({ file }) => file);
  return unhandled > 0 || failed.length > MOST_REPEATED ? [] : failed;
}

/** The second result of a repeated file counts. What failed at first and passed then is named. */
export function withSecondTry(first: TestCounts, second: TestCounts): { tests: TestCounts; unstable: string[] } {
  const repeated = new Map(second.files.map((file) => [file.file, file]));
  const unstable = (before: FileCounts) => {
    const after = repeated.get(before.file);
    return after ? before.failed.filter((name) => !after.failed.includes(name)) : [];
  };
  return {
    tests: { files: first.files.map((file) => repeated.get(file.file) ?? file), unhandled: second.unhandled },
    unstable: first.files.flatMap(unstable),
  };
}

export function slowest({ files }: TestCounts): FileCounts[] {
  return files.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
}

/** Proofs that the run promised and that are not there. */
export function vanished({ files }: TestCounts, requirements: Requirement[], isCi: boolean): string[] {
  const skipped = sum(files.map((file) => file.skipped.length));
  const tests = files.flatMap(({ file, tests: ran }) => ran.map((test) => ({ file, ...test })));
  return [
    ...(isCi && skipped > 0 ? [`in CI every test must run; skipped: ${skipped}`] : []),
    ...unproven(requirements, tests),
  ];
}
