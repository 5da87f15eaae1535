import './overview.css';
import { useQuery } from '@tanstack/react-query';
import type { WorkerView } from '@tidemill/contract';
import { api, soon } from '../../api.ts';
import { Command } from '../../shell/command.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { useNow } from '../../time.ts';
import { Activity } from '../feed/activity.tsx';
import { useProjects } from '../project/queries.ts';
import { stagesOf } from '../stage/flow.ts';
import { Mill } from '../stage/mill.tsx';
import { Landed } from './landed.tsx';
import { NeedsYou } from './needs-you.tsx';
import { Reach } from './reach.tsx';
import { SpendToday } from './spend-today.tsx';
import { WorkingNow } from './working-now.tsx';

const POLL_MS = 60_000;

export function OverviewPage() {
  const { project, status, knownAt, connection } = useShown();
  const now = useNow();
  const projects = useProjects();
  const { data: metrics } = useQuery({
    queryKey: ['metrics', project.id, '24h'],
    queryFn: ({ signal }) => api.metrics({ project: project.id, period: '24h' }, soon(signal)),
    refetchInterval: POLL_MS,
  });
  // Without a connection nothing is known to go on, so no clock does.
  const agoMs = connection === 'live' ? Math.max(0, now - knownAt) : 0;
  return (
    <>
      <Mill
        stages={stagesOf(project, status)}
        agoMs={agoMs}
        landed={metrics?.total.completed ?? null}
        isTurning={connection === 'live' && status.workers.some(isAtWork)}
      />
      {status.total === 0 && <First />}
      <div className="strips">
        <NeedsYou needs={status.needsYou} total={Math.max(status.inbox, status.needsYou.length)} />
        <WorkingNow workers={status.workers} agoMs={agoMs} />
        <SpendToday budget={status.budget} isAlone={projects.data?.length === 1} />
      </div>
      <div className="strips two">
        <Activity />
        <Landed status={status} />
      </div>
      <Reach status={status} />
    </>
  );
}

/** One that was told to stand still does not turn the wheel. */
const isAtWork = ({ task, wish }: WorkerView) => task !== null && (wish === 'running' || wish === 'paused');

function First() {
  return (
    <section className="first">
      <p>
        The mill is ready and waits for water. <PageLink to="/board?new=1">Put the first task in</PageLink>, or in a
        terminal:
      </p>
      <Command text={'tidemill task add "What should be done"'} />
    </section>
  );
}
