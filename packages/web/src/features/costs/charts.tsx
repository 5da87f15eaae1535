import type { HistoryPoint, HistoryView, Project } from '@tidemill/contract';
import { Empty } from '../../shell/page-head.tsx';
import { elapsed } from '../../time.ts';
import { money, percent, plural } from '../../words.ts';
import { countTop, durationTop, roundTop, type Scale } from './axis.ts';
import { Chart } from './chart.tsx';
import { type Cut, spendSeries } from './series.ts';

const MONEY: Scale = { words: money, top: roundTop };
const COUNT: Scale = { words: (value) => Math.round(value).toLocaleString('en-US'), top: countTop };
const TIME: Scale = { words: (value) => (value === 0 ? '0' : elapsed(value)), top: durationTop };
const SHARE: Scale = { words: percent, top: () => 1 };

const last = (values: (number | null)[], words: (value: number) => string) => {
  const value = values.findLast((each) => each !== null);
  return value === undefined || value === null ? '' : `latest ${words(value)}`;
};

export function Charts({ history, cut, projects }: { history: HistoryView; cut: Cut; projects: Project[] }) {
  const { points, stepMs, spend } = history;
  const of = (pick: (point: HistoryPoint) => number | null) => points.map(pick);
  const common = { steps: of(({ at }) => at) as number[], stepMs };
  const spent = spend.reduce((sum, { usd }) => sum + usd, 0);
  const runs = spend.reduce((sum, point) => sum + point.runs, 0);
  const done = points.reduce((sum, point) => sum + point.done, 0);
  const queued = of((point) => point.queued);
  const cycle = of(({ cycleTimeMs }) => cycleTimeMs);
  const passed = of(({ firstPassRate }) => firstPassRate);
  if (runs === 0 && done === 0 && queued.every((count) => count === 0)) {
    return (
      <Empty>
        <p>No runs and no tasks in this period.</p>
      </Empty>
    );
  }
  return (
    <div className="charts">
      <Chart
        {...common}
        title="Spend"
        about={`${money(spent)} in ${plural(runs, 'run')}, all projects`}
        series={spendSeries(history, cut, projects)}
        scale={MONEY}
        isBars
      />
      <Chart
        {...common}
        title="Tasks done"
        about={`${done.toLocaleString('en-US')} in total`}
        series={[{ name: 'done', values: of((point) => point.done) }]}
        scale={COUNT}
        isBars
      />
      <Chart
        {...common}
        title="Queue"
        about={`${last(queued, COUNT.words)}, waiting or in progress`}
        series={[{ name: 'waiting or in progress', values: queued }]}
        scale={COUNT}
      />
      <Chart
        {...common}
        title="Cycle time"
        about={last(cycle, elapsed)}
        series={[{ name: 'from claim to done', values: cycle }]}
        scale={TIME}
      />
      <Chart
        {...common}
        title="First review passed"
        about={last(passed, percent)}
        series={[{ name: 'of first reviews', values: passed }]}
        scale={SHARE}
      />
    </div>
  );
}
