import { MetricPeriod, type MetricsView } from '@tidemill/contract';
import { errorText } from '../../shell/toasts.tsx';
import { PERIOD_TEXT, timeOf } from '../../words.ts';
import { FigureList } from './figures.tsx';

interface SummaryProps {
  metrics: MetricsView | undefined;
  error: unknown;
  period: MetricPeriod;
  onPeriod: (period: MetricPeriod) => void;
}

/** All workers together. Old figures show when they were computed. */
export function Summary({ metrics, error, period, onPeriod }: SummaryProps) {
  const isOld = metrics !== undefined && (metrics.isStale || error !== null);
  return (
    <section className="summary" aria-labelledby="together">
      <header>
        <h3 id="together">All agents</h3>
        <select aria-label="Period" value={period} onChange={(event) => onPeriod(event.target.value as MetricPeriod)}>
          {MetricPeriod.options.map((option) => (
            <option key={option} value={option}>
              {PERIOD_TEXT[option]}
            </option>
          ))}
        </select>
        {isOld && <p className="waiting">Not up to date: figures from {timeOf(metrics.computedAt)}.</p>}
        {!metrics && error !== null && <p className="waiting">{errorText(error)}</p>}
      </header>
      {metrics && <FigureList figures={metrics.total} />}
    </section>
  );
}
