import './fleet.css';
import { MAX_WORKERS, MetricPeriod } from '@tidemill/contract';
import { useAddress } from '../../address.ts';
import { api } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { useKeys } from '../../shell/keys.ts';
import { PageHead } from '../../shell/page-head.tsx';
import { useKnownMs, useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { plural } from '../../words.ts';
import { useMetrics } from '../project/queries.ts';
import { Comparison } from './comparison.tsx';
import { EmergencyStop } from './emergency-stop.tsx';
import { Summary } from './summary.tsx';
import { WorkerCard } from './worker-card.tsx';

export default function FleetPage() {
  const { project, status } = useShown();
  const [view, setView] = useAddress('view');
  const [given, setPeriod] = useAddress('period');
  const period = MetricPeriod.options.find((option) => option === given) ?? '24h';
  const agoMs = useKnownMs();
  const metrics = useMetrics(project.id, period);
  const isComparing = view === 'compare';
  useKeys([{ keys: 'v', does: 'Switch cards and comparison', run: () => setView(isComparing ? '' : 'compare') }]);
  const agents = status.workers.filter(({ role }) => role === 'builder' || role === 'reviewer');
  const builders = agents.filter(({ role, isOutside }) => role === 'builder' && !isOutside);
  const steer = (operation: 'pause' | 'resume') => () =>
    api.steerWorkers({ project: project.id, worker: 'all', operation, by: 'page' });
  return (
    <>
      <PageHead title="Fleet" about={countsOf(agents)}>
        <button type="button" aria-pressed={isComparing} onClick={() => setView(isComparing ? '' : 'compare')}>
          Compare
        </button>
        <Action
          act={() => api.addWorker({ project: project.id })}
          done="Agent added"
          disabled={builders.length >= MAX_WORKERS || !status.running}
        >
          Add agent
        </Action>
        <Action act={steer('pause')} done="All agents pause at their next checkpoint">
          Pause all
        </Action>
        <Action act={steer('resume')} done="All agents resumed">
          Resume all
        </Action>
        <EmergencyStop />
      </PageHead>
      <RoleNote what="Managing workers" />
      <Summary metrics={metrics.data} error={metrics.error} period={period} onPeriod={setPeriod} />
      {agents.length === 0 && <p className="empty">No agents. Start them in the repository with tidemill up</p>}
      {isComparing ? (
        <Comparison metrics={metrics.data} />
      ) : (
        <ul className="fleet">
          {agents.map((worker) => (
            <WorkerCard
              key={worker.name}
              worker={worker}
              figures={metrics.data?.workers.find(({ name }) => name === worker.name)}
              agoMs={agoMs}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function countsOf(workers: { status: string }[]): string {
  const count = (...names: string[]) => workers.filter(({ status }) => names.includes(status)).length;
  const parts = [
    plural(workers.length, 'agent'),
    `${count('working', 'reviewing', 'ideating')} active`,
    `${count('idle')} idle`,
    `${count('paused')} paused`,
    `${count('stopped')} stopped`,
  ];
  const crashed = count('crashed', 'failed');
  return [...parts, ...(crashed > 0 ? [`${crashed} crashed`] : [])].join(' · ');
}
