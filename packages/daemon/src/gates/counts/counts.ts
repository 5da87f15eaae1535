import type { GateConfig, GateCounts } from '@tidemill/contract';
import { readReportFile } from '../scan/report-file.ts';
import { printedJUnit, readJUnit } from './junit.ts';
import { readPattern } from './pattern.ts';
import { readCounts } from './read-counts.ts';
import type { SummaryLine } from './summary-lines.ts';

/** What a gate left behind: the lines of summaries, the end of its output, and its folder. */
export interface Output {
  lines: SummaryLine[];
  /** Without colours. */
  end: string;
  folder: string;
}

/**
 * How many tests a gate's command ran, by its pattern, its report or the summary of a known runner. Null: it cannot be read. The
 * work controls what its tests print and write, so that figures can be forged: they show mistakes and lazy cheats.
 */
export async function countsOf(
  gate: GateConfig,
  { lines, end, folder }: Output,
  which: 'last' | 'highest' = 'last',
): Promise<GateCounts | null> {
  if (gate.counts !== undefined) return readPattern(end, gate.counts);
  if (gate.report !== undefined) {
    const report = await readReportFile(folder, gate.report);
    return 'text' in report ? readJUnit(report.text) : null;
  }
  return readCounts(lines, which) ?? printedJUnit(end);
}
