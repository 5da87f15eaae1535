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
 * are added up. `highest`: the summary with the most passes of a part counts, because a forged one may follow the runner's own.
 */
export function readCounts(lines: SummaryLine[], which: 'last' | 'highest' = 'last'): GateCounts | null {
  const parts = partsOf(lines).map((part) => ofPart(part, which));
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

function ofPart(lines: SummaryLine[], which: 'last' | 'highest' = 'last'): GateCounts | null {
  const found = RUNNERS.flatMap((runner) => summariesOf(runner, lines));
  const strong = found.filter(({ runner }) => !runner.isWeak);
  const best = (one: Found, other: Found) => (which === 'last' ? one.at - other.at : most(one) - most(other));
  return (strong.length > 0 ? strong : found).sort(best).at(-1)?.counts ?? null;
}

/** What did not fail. */
const most = ({ counts: { passed, skipped } }: Found) => passed + skipped;

function summariesOf(runner: Runner, lines: SummaryLine[]): Found[] {
  const own = lines.filter(({ text }) => runner.line.test(text));
  if (own.length === 0) return [];
  const groups = runner.isPartial ? [own] : clustersOf(own);
  return groups.flatMap((group) => {
    const counts = runner.read(group.map(({ text }) => text));
    return counts ? [{ runner, at: group.at(-1)!.at, counts }] : [];
  });
}

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
  const read = [...packages.values()]
    .flatMap((own) => partsOf(own).map((part) => ofPart(part)))
    .filter((counts) => counts !== null);
  return read.length > 0 ? read.reduce(sum, NONE) : null;
}
