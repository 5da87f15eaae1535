import type { HistoryView } from '@tidemill/contract';

export interface Series {
  name: string;
  /** One per step; null where there is nothing to say. */
  values: (number | null)[];
}

export type Cut = 'project' | 'mode' | 'agent';

/** More cannot be told apart by colour. */
const MOST_SERIES = 6;

/** Spend per step, the largest first, the smallest together. */
export function spendSeries({ points, spend }: HistoryView, cut: Cut): Series[] {
  const at = new Map(points.map((point, index) => [point.at, index]));
  const sums = new Map<string, number[]>();
  for (const point of spend) {
    const step = at.get(point.at);
    if (step === undefined) continue;
    const values = sums.get(point[cut]) ?? points.map(() => 0);
    values[step] = (values[step] ?? 0) + point.usd;
    sums.set(point[cut], values);
  }
  const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
  const sorted = [...sums].sort(([, a], [, b]) => total(b) - total(a));
  const series = sorted.slice(0, MOST_SERIES - 1).map(([name, values]) => ({ name, values }));
  const others = sorted.slice(MOST_SERIES - 1).map(([, values]) => values);
  if (others.length > 0)
    series.push({
      name: `${others.length} others`,
      values: points.map((_, step) => others.reduce((sum, values) => sum + values[step]!, 0)),
    });
  return series;
}
