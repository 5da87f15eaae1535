import type { HistoryView, Project } from '@tidemill/contract';
import { bounded, plainLine } from '../../plain.ts';
import { stageText } from '../../words.ts';

export interface Series {
  name: string;
  /** One per step; null if there is no value. */
  values: (number | null)[];
}

export type Cut = 'project' | 'mode' | 'agent';

/** More colours cannot be distinguished. */
const MOST_SERIES = 6;
const MOST_LETTERS = 40;

/** Spend per step, the largest series first, the smallest ones combined. */
export function spendSeries({ points, spend }: HistoryView, cut: Cut, projects: Project[]): Series[] {
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
  // The last series combines all others, unless there is only one.
  const most = sorted.length > MOST_SERIES ? MOST_SERIES - 1 : MOST_SERIES;
  const series = sorted.slice(0, most).map(([key, values]) => ({ name: nameOf(key, cut, projects), values }));
  const others = sorted.slice(most).map(([, values]) => values);
  if (others.length > 0)
    series.push({
      name: `${others.length} others`,
      values: points.map((_, step) => others.reduce((sum, values) => sum + values[step]!, 0)),
    });
  return series;
}

function nameOf(key: string, cut: Cut, projects: Project[]): string {
  if (cut === 'mode') return stageText(key);
  if (cut === 'agent') return bounded(plainLine(key), MOST_LETTERS);
  const project = projects.find(({ id }) => id === key);
  if (!project) return 'a removed project';
  const isTwice = projects.some(({ id, name }) => id !== key && name === project.name);
  return plainLine(isTwice ? `${project.name} in ${project.root}` : project.name);
}
