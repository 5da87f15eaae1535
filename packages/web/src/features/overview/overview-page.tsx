import './overview.css';
import type { WorkerView } from '@tidemill/contract';
import { Command } from '../../shell/command.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useKnownMs, useShown } from '../../shell/project.tsx';
import { Activity } from '../feed/activity.tsx';
import { useMetrics, useProjects } from '../project/queries.ts';
import { stagesOf } from '../stage/flow.ts';
import { Mill } from '../stage/mill.tsx';
import { Landed } from './landed.tsx';
import { NeedsYou } from './needs-you.tsx';
import { Reach } from './reach.tsx';
import { SpendToday } from './spend-today.tsx';
import { WorkingNow } from './working-now.tsx';

export function OverviewPage() {
  const { project, status, connection } = useShown();
  const projects = useProjects();
  const { data: metrics } = useMetrics(project.id, '24h');
  const agoMs = useKnownMs();
  return (
    <>
      <Mill
        stages={stagesOf(project, status)}
        sources={status.sources}
        environments={status.environments}
        agoMs={agoMs}
        landed={metrics?.total.completed ?? null}
        isTurning={connection === 'live' && status.workers.some(isAtWork)}
      />
      {status.total === 0 && <First />}
      <div className="strips">
        <NeedsYou needs={status.needsYou} inbox={status.inbox} />
        <WorkingNow workers={status.workers} preparing={status.preparing} agoMs={agoMs} />
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

/** Frozen and stopped workers do not turn the wheel. */
const isAtWork = ({ task, desired }: WorkerView) => task !== null && (desired === 'running' || desired === 'paused');

function First() {
  return (
    <section className="first">
      <p>
        Ready. <PageLink to="/board?new=1">Add your first task</PageLink>,{' '}
        <PageLink to="/ideas">talk about an idea</PageLink>, or run this in a terminal:
      </p>
      <Command text={'tidemill task add "What should be done"'} />
    </section>
  );
}
