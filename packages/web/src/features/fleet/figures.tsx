import type { MetricFigures } from '@tidemill/contract';
import { elapsed } from '../../time.ts';
import { money, percent } from '../../words.ts';

export type Grade = 'good' | 'fair' | 'poor';

interface Figure {
  name: string;
  text(figures: MetricFigures): string;
  /** A rating, for figures that have one. */
  grade?(figures: MetricFigures): Grade | null;
}

const of = (value: number | null, words: (value: number) => string) => (value === null ? 'no data' : words(value));
const graded = (value: number | null, good: number, fair: number): Grade | null =>
  value === null ? null : value >= good ? 'good' : value >= fair ? 'fair' : 'poor';

/** The figures of a worker, the most important first. */
export const FIGURES: Figure[] = [
  { name: 'Tasks done', text: ({ completed }) => completed.toLocaleString('en-US') },
  { name: 'Cycle time', text: ({ cycleTimeMs }) => of(cycleTimeMs, elapsed) },
  {
    name: 'First review passed',
    text: ({ firstReviewPassRate }) => of(firstReviewPassRate, percent),
    grade: ({ firstReviewPassRate }) => graded(firstReviewPassRate, 0.8, 0.5),
  },
  {
    name: 'Errors',
    text: ({ errors, errorRate }) =>
      `${errors}${errors === 0 || errorRate === null ? '' : `, ${errorRate.toFixed(2)} per task`}`,
    grade: ({ errorRate }) => (errorRate === null ? null : graded(-errorRate, -0.25, -1)),
  },
  { name: 'Cost', text: ({ costUsd }) => money(costUsd) },
  { name: 'Cost per task', text: ({ costPerTaskUsd }) => of(costPerTaskUsd, money) },
  { name: 'Utilisation', text: ({ uptime }) => percent(uptime) },
];

export function FigureList({ figures }: { figures: MetricFigures }) {
  return (
    <dl className="figures">
      {FIGURES.map(({ name, text, grade }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={grade?.(figures) ?? undefined}>{text(figures)}</dd>
        </div>
      ))}
    </dl>
  );
}
