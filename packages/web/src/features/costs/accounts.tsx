import { useQuery } from '@tanstack/react-query';
import { type AccountView, ALL_PROJECTS } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { SpendBar } from '../../shell/frame.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { limit, money, timeOf } from '../../words.ts';
import { Limits } from './limits.tsx';

const POLL_MS = 5000;

/** Every budget: spent, reserved and forecast. */
export function Accounts() {
  const { project } = useShown();
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['budget'],
    queryFn: ({ signal }) => api.budget({}, withTimeout(signal)),
    refetchInterval: POLL_MS,
  });
  if (!data) return <p className={error ? 'waiting' : 'dim'}>{error ? errorText(error) : 'Loading the budgets…'}</p>;
  const rank = ({ projectId }: AccountView) => (projectId === project.id ? 0 : projectId === ALL_PROJECTS ? 1 : 2);
  return (
    <>
      {error && <p className="waiting">Not up to date: budgets from {timeOf(dataUpdatedAt)}.</p>}
      <ul className="accounts" aria-label="Budgets">
        {[...data]
          .sort((a, b) => rank(a) - rank(b))
          .map((account) => (
            <Account key={account.projectId} account={account} />
          ))}
      </ul>
    </>
  );
}

function Account({ account }: { account: AccountView }) {
  const { projectId, name, limits, daily, monthly, timeZone, stopped } = account;
  const isAll = projectId === ALL_PROJECTS;
  return (
    <li className="card" data-account={projectId}>
      <h3>{isAll ? 'All projects' : plainLine(name)}</h3>
      {stopped && <p className="crashed">{stopped}</p>}
      <SpendBar name="Today" spent={daily.spentUsd} of={limits.dailyUsd} percent={daily.percent} />
      <SpendBar name="This month" spent={monthly.spentUsd} of={limits.monthlyUsd} percent={monthly.percent} />
      <ul className="forecast">
        <Forecast when="At today's rate" until="by midnight" of={limits.dailyUsd} forecast={daily.forecastUsd} />
        <Forecast
          when="At this month's rate"
          until="by the end of the month"
          of={limits.monthlyUsd}
          forecast={monthly.forecastUsd}
        />
      </ul>
      <p className="dim">
        {daily.reservedUsd > 0 && `${money(daily.reservedUsd)} is reserved for current runs. `}
        Time zone: {timeZone}.
      </p>
      {isAll ? (
        <Limits account={account} />
      ) : (
        <p className="dim">
          <PageLink to="/settings">Edit limit</PageLink> under <code>budget</code> in the config.
        </p>
      )}
    </li>
  );
}

function Forecast(props: { when: string; until: string; of: number; forecast: number }) {
  const { when, until, of, forecast } = props;
  const isOver = forecast > of;
  return (
    <li className={isOver ? 'waiting' : 'dim'}>
      {when} {money(forecast)} {until}
      {isOver && `, more than the ${limit(of)} allowed`}
    </li>
  );
}
