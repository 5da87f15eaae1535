import './costs.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { MetricPeriod } from '@tidemill/contract';
import { useEffect, useRef } from 'react';
import { useAddress } from '../../address.ts';
import { api, withTimeout } from '../../api.ts';
import { useEvents } from '../../shell/live.ts';
import { PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { PERIOD_TEXT, timeOf } from '../../words.ts';
import { useProjects } from '../project/queries.ts';
import { Accounts } from './accounts.tsx';
import { Charts } from './charts.tsx';
import type { Cut } from './series.ts';

const POLL_MS = 60_000;
const RETRY_MS = 5000;
/** The daemon computes figures at most this often. */
const FRESH_MS = 2500;
const RELEVANT = ['run.finished', 'task.moved', 'task.created', 'merge.landed'];
const CUTS: Record<Cut, string> = { mode: 'by mode', agent: 'by agent', project: 'by project' };

export default function CostsPage() {
  const { project } = useShown();
  const [given, setPeriod] = useAddress('period');
  const [givenCut, setCut] = useAddress('by');
  const period = MetricPeriod.options.find((option) => option === given) ?? '24h';
  const cut = (Object.keys(CUTS) as Cut[]).find((name) => name === givenCut) ?? 'mode';
  const history = useHistory(project.id, period);
  const projects = useProjects();
  const isOld = history.data !== undefined && (history.data.isStale || history.error !== null);
  return (
    <>
      <PageHead title="Costs and metrics">
        <Choice name="Period" value={period} names={PERIOD_TEXT} choose={setPeriod} />
        <Choice name="Spend" value={cut} names={CUTS} choose={setCut} />
      </PageHead>
      <RoleNote needs="admin" what="Changing a limit" />
      <Accounts />
      {isOld && (
        <p className="banner" role="status">
          Not up to date: figures from {timeOf(history.data.computedAt)}. Retrying automatically.
        </p>
      )}
      {!history.data && history.error && <p className="waiting">{errorText(history.error)}</p>}
      {!history.data && !history.error && <p className="dim">Loading the figures…</p>}
      {history.data && (
        <div className={isOld ? 'old' : undefined}>
          <Charts history={history.data} cut={cut} projects={projects.data ?? []} />
        </div>
      )}
    </>
  );
}

/** Refreshed soon after an event that changes it, and at intervals. */
function useHistory(project: string, period: MetricPeriod) {
  const cache = useQueryClient();
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEvents((events) => {
    if (waiting.current !== null || !events.some(({ body }) => RELEVANT.includes(body.type))) return;
    waiting.current = setTimeout(() => {
      waiting.current = null;
      void cache.invalidateQueries({ queryKey: ['history'] });
    }, FRESH_MS);
  });
  useEffect(() => () => clearTimeout(waiting.current ?? undefined), []);
  return useQuery({
    queryKey: ['history', project, period],
    queryFn: ({ signal }) => api.history({ project, period }, withTimeout(signal)),
    // Sooner after a failure, because the figures shown are old.
    refetchInterval: ({ state }) => (state.error ? RETRY_MS : POLL_MS),
    placeholderData: (before) => before,
  });
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
