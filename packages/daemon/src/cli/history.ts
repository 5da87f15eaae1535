import type { HistoryView } from '@tidemill/contract';
import { dateAndTime, elapsed, type Terminal, table } from './terminal.ts';

const HEAD = ['from', 'done', '', 'cycle', 'first review', 'queued', 'cost', ''];
const BAR = 10;

/** A line per step, with bars for tasks done and cost. Fits 80 columns. */
export function showHistory(terminal: Terminal, { points, spend }: HistoryView, project: string): void {
  const costs = points.map(({ at }) =>
    spend.filter((each) => each.at === at && each.project === project).reduce((sum, { usd }) => sum + usd, 0),
  );
  const mostDone = Math.max(...points.map(({ done }) => done));
  const mostUsd = Math.max(...costs);
  const rows = points.map(({ at, done, cycleTimeMs, firstPassRate, queued }, index) => [
    stepName(at),
    String(done),
    bar(done, mostDone),
    cycleTimeMs === null ? '-' : elapsed(cycleTimeMs),
    firstPassRate === null ? '-' : `${Math.round(firstPassRate * 100)} %`,
    String(queued),
    `$${costs[index]!.toFixed(2)}`,
    bar(costs[index]!, mostUsd),
  ]);
  for (const line of table([HEAD, ...rows], terminal.width)) terminal.line(line);
  const totals = Object.entries(Object.groupBy(spend, ({ mode, agent }) => `${mode} by ${agent}`)).map(
    ([what, each = []]) => ({ what, usd: each.reduce((sum, { usd }) => sum + usd, 0) }),
  );
  if (totals.length > 0) terminal.line('\nspent, all projects');
  const most = Math.max(...totals.map(({ usd }) => usd));
  const lines = totals
    .sort((a, b) => b.usd - a.usd)
    .map(({ what, usd }) => [`$${usd.toFixed(2)}`, bar(usd, most), what]);
  for (const line of table(lines, terminal.width)) terminal.line(line);
}

/** A value above zero gets at least one mark. */
function bar(value: number, most: number): string {
  if (value <= 0) return '';
  return '#'.repeat(Math.max(1, Math.round((value / most) * BAR)));
}

/** `11-16 08:00`, where the step begins. */
const stepName = (at: number) => dateAndTime(at).slice(5, 16);
