import { useQuery } from '@tanstack/react-query';
import { type AccountView, ALL_PROJECTS } from '@tidemill/contract';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { SpendBar } from '../../shell/frame.tsx';
import { errorText } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { limit, money } from '../../words.ts';

/** Every budget: what is spent, set aside, and where it leads. */
export function Accounts() {
  const { data, error } = useQuery({
    queryKey: ['budget'],
    queryFn: ({ signal }) => api.budget({}, soon(signal)),
    refetchInterval: 5000,
  });
  if (error && !data) return <p className="waiting">{errorText(error)}</p>;
  return (
    <ul className="accounts">
      {data?.map((account) => (
        <Account key={account.projectId} account={account} />
      ))}
    </ul>
  );
}

function Account({ account }: { account: AccountView }) {
  const { projectId, name, limits, daily, monthly, timeZone, stopped } = account;
  const isAll = projectId === ALL_PROJECTS;
  const overrun = monthly.forecastUsd > limits.monthlyUsd;
  return (
    <li className="card" data-account={projectId}>
      <h3>{isAll ? 'All projects' : name}</h3>
      {stopped && <p className="crashed">{stopped}</p>}
      <SpendBar name="Today" spent={daily.spentUsd} of={limits.dailyUsd} percent={daily.percent} />
      <SpendBar name="This month" spent={monthly.spentUsd} of={limits.monthlyUsd} percent={monthly.percent} />
      <p className="dim">
        {money(daily.reservedUsd)} set aside for runs under way. Days begin at midnight, {timeZone}.
      </p>
      <p className={overrun ? 'waiting' : 'dim'}>
        At this rate {money(daily.forecastUsd)} today, {money(monthly.forecastUsd)} this month
        {overrun && `: more than the ${limit(limits.monthlyUsd)} allowed`}.
      </p>
      {isAll ? <Limits account={account} /> : <p className="dim">Its limits are in its settings.</p>}
    </li>
  );
}

function Limits({ account: { limits } }: { account: AccountView }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('admin');
  return (
    <>
      <button type="button" disabled={!may} onClick={() => setOpen(true)}>
        Change the limits
      </button>
      {isOpen && <Change limits={limits} onClose={() => setOpen(false)} />}
    </>
  );
}

function Change({ limits, onClose }: { limits: AccountView['limits']; onClose: () => void }) {
  const { project } = useShown();
  const [daily, setDaily] = useState(String(limits.dailyUsd));
  const [monthly, setMonthly] = useState(String(limits.monthlyUsd));
  const act = useAct();
  const wrong = [daily, monthly].some((text) => !(Number(text) > 0 && Number(text) <= 1_000_000));
  const save = async () => {
    const given = { dailyUsd: Number(daily), monthlyUsd: Number(monthly) };
    if (await act(() => api.limitBudget({ project: project.id, ...given }), 'The limits of all projects are changed'))
      onClose();
  };
  return (
    <Dialog title="Limits of all projects together" onClose={onClose}>
      <form
        className="prose"
        onSubmit={(event) => {
          event.preventDefault();
          if (!wrong) void save();
        }}
      >
        <label>
          USD a day
          <input inputMode="decimal" value={daily} onChange={(event) => setDaily(event.target.value)} />
        </label>
        <label>
          USD a month
          <input inputMode="decimal" value={monthly} onChange={(event) => setMonthly(event.target.value)} />
        </label>
        {wrong && <p className="waiting">A limit is more than 0 and at most 1,000,000 USD.</p>}
        <p className="dim">At 90 % nothing new begins, at 100 % everything stops.</p>
        <footer>
          <button type="submit" className="primary" disabled={wrong}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
