import { z } from 'zod';

/** Share of lines in percent, and the files with the least. */
export interface Coverage {
  percent: number;
  least: { file: string; percent: number }[];
}

const Share = z.looseObject({
  lines: z.looseObject({ total: z.number().nonnegative(), covered: z.number().nonnegative() }),
});
const Summary = z.looseObject({ total: Share }).catchall(Share);

/** The figures of `coverage-summary.json` (Istanbul, c8, Vitest, Jest) or an lcov file. */
export function readCoverage(text: string): Coverage | { unusable: string } {
  return text.trimStart().startsWith('{') ? fromSummary(text) : fromLcov(text);
}

function fromSummary(text: string): Coverage | { unusable: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { unusable: 'the coverage report is not valid JSON' };
  }
  const summary = Summary.safeParse(value);
  if (!summary.success) return { unusable: 'the coverage report has no `total.lines`' };
  const { total, ...files } = summary.data;
  return coverageOf(
    total.lines,
    Object.entries(files).map(([file, { lines }]) => ({ file, ...lines })),
  );
}

function fromLcov(text: string): Coverage | { unusable: string } {
  const files: { file: string; total: number; covered: number }[] = [];
  for (const block of text.split('end_of_record')) {
    const file = /^SF:(.+)$/m.exec(block)?.[1];
    const total = Number(/^LF:(\d+)$/m.exec(block)?.[1] ?? Number.NaN);
    const covered = Number(/^LH:(\d+)$/m.exec(block)?.[1] ?? Number.NaN);
    if (file !== undefined && Number.isFinite(total) && Number.isFinite(covered)) files.push({ file, total, covered });
  }
  if (files.length === 0) return { unusable: 'the coverage report is neither a JSON summary nor lcov' };
  const sum = (key: 'total' | 'covered') => files.reduce((all, each) => all + each[key], 0);
  return coverageOf({ total: sum('total'), covered: sum('covered') }, files);
}

const MOST_FILES = 10;
type Lines = { total: number; covered: number };

function coverageOf(all: Lines, files: (Lines & { file: string })[]): Coverage | { unusable: string } {
  if (all.total === 0) return { unusable: 'the coverage report counts no lines' };
  const least = files
    .filter(({ total }) => total > 0)
    .map(({ file, ...lines }) => ({ file, percent: percentOf(lines) }))
    .filter(({ percent }) => percent < 100)
    .sort((a, b) => a.percent - b.percent);
  return { percent: percentOf(all), least: least.slice(0, MOST_FILES) };
}

/** Rounded down: 79.99 is not 80. */
const percentOf = ({ total, covered }: Lines) => Math.floor((Math.min(covered, total) / total) * 1000) / 10;
