import type { GateCounts } from '@tidemill/contract';
import { NONE, type Runner, sum } from './runner.ts';
import { RUNNERS } from './runners.ts';
import { BEGINS, type SummaryLine, unprefixed } from './summary-lines.ts';

interface Found {
  runner: Runner;
  counts: GateCounts;
  /** The last line of the summary. */
  at: number;
}

/**
 * How many tests ran, by the summaries of the runners we know; null when there is none. An output has a part per test command.
 * The last summary of a part counts, because a runner prints it at the end and tests may print anything before. The parts
 * are added up.
 */
export function readCounts(lines: SummaryLine[]): GateCounts | null {
  const parts = partsOf(lines).map(ofPart);
  const read = parts.filter((counts) => counts !== null);
  return read.length > 0 ? read.reduce(sum, NONE) : ofPrefixed(lines);
}

function partsOf(lines: SummaryLine[]): SummaryLine[][] {
  const parts: SummaryLine[][] = [[]];
  for (const line of lines)
    if (BEGINS.test(line.text)) parts.push([]);
    else parts.at(-1)!.push(line);
  return parts;
}

function ofPart(lines: SummaryLine[]): GateCounts | null {
  const found = RUNNERS.flatMap((runner) => {
    const last = lastOf(runner, lines);
    return last ? [last] : [];
  });
  const strong = found.filter(({ runner }) => !runner.isWeak);
  const ordered = (strong.length > 0 ? strong : found).sort((a, b) => a.at - b.at);
  return ordered.at(-1)?.counts ?? null;
}

function lastOf(runner: Runner, lines: SummaryLine[]): Found | null {
  const own = lines.filter(({ text }) => runner.line.test(text));
  if (own.length === 0) return null;
  const { at } = own.at(-1)!;
  if (runner.isPartial) return withCounts({ runner, at, counts: runner.read(own.map(({ text }) => text)) });
  return clustersOf(own)
    .map((cluster) =>
      withCounts({ runner, at: cluster.at(-1)!.at, counts: runner.read(cluster.map(({ text }) => text)) }),
    )
    .findLast((each) => each !== null)!;
}

const withCounts = ({ counts, ...rest }: Omit<Found, 'counts'> & { counts: GateCounts | null }): Found | null =>
  counts ? { ...rest, counts } : null;

/** One summary each: its lines follow each other, with at most one line between them. */
function clustersOf(lines: SummaryLine[]): SummaryLine[][] {
  const clusters: SummaryLine[][] = [];
  for (const line of lines) {
    const before = clusters.at(-1);
    if (before && line.at - before.at(-1)!.at <= 2) before.push(line);
    else clusters.push([line]);
  }
  return clusters;
}

/** `pnpm -r test`, `turbo test` and others write the lines of all packages in between each other. */
function ofPrefixed(lines: SummaryLine[]): GateCounts | null {
  const packages = new Map<string, SummaryLine[]>();
  for (const { text } of lines) {
    const line = unprefixed(text);
    if (!line) continue;
    const own = packages.get(line.prefix) ?? [];
    own.push({ at: own.length, text: line.text });
    packages.set(line.prefix, own);
  }
  const read = [...packages.values()].flatMap((own) => partsOf(own).map(ofPart)).filter((counts) => counts !== null);
  return read.length > 0 ? read.reduce(sum, NONE) : null;
}
