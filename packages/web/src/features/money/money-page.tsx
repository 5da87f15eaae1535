import './money.css';
import { useQuery } from '@tanstack/react-query';
import { type HistoryView, MetricPeriod } from '@tidemill/contract';
import { useAddress } from '../../address.ts';
import { api, soon } from '../../api.ts';
import { errorText } from '../../shell/notices.tsx';
import { PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed } from '../../time.ts';
import { money, percent, timeOf } from '../../words.ts';
import { Accounts } from './accounts.tsx';
import { Chart } from './chart.tsx';
import { type Cut, spendSeries } from './series.ts';

const POLL_MS = 60_000;
const PERIODS: Record<MetricPeriod, string> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' };
const CUTS: Record<Cut, string> = { project: 'by project', mode: 'by mode', agent: 'by agent' };

export default function MoneyPage() {
  const { project } = useShown();
  const [given, setPeriod] = useAddress('period');
  const [givenCut, setCut] = useAddress('by');
  const period = MetricPeriod.options.find((option) => option === given) ?? '24h';
  const cut = (Object.keys(CUTS) as Cut[]).find((name) => name === givenCut) ?? 'mode';
  const history = useQuery({
    queryKey: ['history', project.id, period],
    queryFn: ({ signal }) => api.history({ project: project.id, period }, soon(signal)),
    refetchInterval: POLL_MS,
    placeholderData: (before) => before,
  });
  const isOld = history.data !== undefined && (history.data.isStale || history.error !== null);
  return (
    <>
      <PageHead title="Money and metrics">
        <Choice name="Period" value={period} names={PERIODS} choose={setPeriod} />
        <Choice name="Spend" value={cut} names={CUTS} choose={setCut} />
      </PageHead>
      <Accounts />
      {isOld && <p className="waiting">Not up to date: these figures are of {timeOf(history.data.computedAt)}.</p>}
      {!history.data && history.error && <p className="waiting">{errorText(history.error)}</p>}
      {!history.data && !history.error && <p className="dim">Reading the figures…</p>}
      {history.data && <Charts history={history.data} cut={cut} />}
    </>
  );
}

function Charts({ history, cut }: { history: HistoryView; cut: Cut }) {
  const { points, stepMs } = history;
  const steps = points.map(({ at }) => at);
  const one = (name: string, pick: (point: HistoryView['points'][number]) => number | null) => [
    { name, values: points.map(pick) },
  ];
  return (
    <div className="charts">
      <Chart title="Spend" steps={steps} stepMs={stepMs} series={spendSeries(history, cut)} words={money} isBars />
      <Chart
        title="Tasks done"
        steps={steps}
        stepMs={stepMs}
        series={one('done', ({ done }) => done)}
        words={String}
        isBars
      />
      <Chart
        title="Queue"
        steps={steps}
        stepMs={stepMs}
        series={one('waiting or at work', ({ queued }) => queued)}
        words={(value) => Math.round(value).toLocaleString('en-US')}
      />
      <Chart
        title="Cycle time"
        steps={steps}
        stepMs={stepMs}
        series={one('from claim to done', ({ cycleTimeMs }) => cycleTimeMs)}
        words={elapsed}
      />
      <Chart
        title="First review passed"
        steps={steps}
        stepMs={stepMs}
        series={one('of first reviews', ({ firstPassRate }) => firstPassRate)}
        words={percent}
        most={1}
      />
    </div>
  );
}

interface ChoiceProps<T extends string> {
  name: string;
  value: T;
  names: Record<T, string>;
  choose: (value: T) => void;
}

function Choice<T extends string>({ name, value, names, choose }: ChoiceProps<T>) {
  return (
    <select aria-label={name} value={value} onChange={(event) => choose(event.target.value as T)}>
      {(Object.keys(names) as T[]).map((each) => (
        <option key={each} value={each}>
          {names[each]}
        </option>
      ))}
    </select>
  );
}
