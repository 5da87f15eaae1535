import './overview.css';
import { useShown } from '../../shell/project.tsx';
import { useNow } from '../../time.ts';
import { stagesOf } from '../stage/flow.ts';
import { Mill } from '../stage/mill.tsx';
import { Landed } from '../task/landed.tsx';
import { NeedsYou } from '../task/needs-you.tsx';
import { WorkingNow } from '../worker/working-now.tsx';

export function OverviewPage() {
  const { project, status, knownAt, connection } = useShown();
  const now = useNow();
  const { blocked = 0, needs_info = 0 } = status.tasks;
  const needs = Math.max(status.needsYou.length, blocked + needs_info);
  // Without a connection nothing is known to go on, so no clock does.
  const agoMs = connection === 'live' ? Math.max(0, now - knownAt) : 0;
  return (
    <>
      <Mill stages={stagesOf(project, status, [])} agoMs={agoMs} />
      <div className="strips">
        <NeedsYou needs={status.needsYou} total={needs} />
        <WorkingNow workers={status.workers} agoMs={agoMs} />
        <Landed status={status} />
      </div>
      <footer className="dim">
        <p>Gates: {status.gates.join(', ')}.</p>
        <p>Sandbox: {status.sandbox.text}</p>
      </footer>
    </>
  );
}
