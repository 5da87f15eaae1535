import type { ProjectStatus, WorkerStatus, WorkerView } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { elapsed } from '../../time.ts';
import { stageText } from '../../words.ts';
import { Progress } from '../worker/progress.tsx';

const SHOWN = 6;
/** Workers without a task, by status. */
const OFF: { status: WorkerStatus; name: string }[] = [
  { status: 'crashed', name: 'Crashed' },
  { status: 'failed', name: 'Failed to start' },
  { status: 'paused', name: 'Paused' },
  { status: 'stopped', name: 'Stopped' },
  { status: 'idle', name: 'Idle' },
];

const isAgent = ({ role }: WorkerView) => role === 'builder' || role === 'reviewer';

interface Shown {
  workers: WorkerView[];
  preparing: ProjectStatus['preparing'];
  agoMs: number;
}

export function WorkingNow({ workers, preparing, agoMs }: Shown) {
  const isBusy = ({ task, mode }: WorkerView) => task !== null || mode !== null;
  const busy = workers.filter(isBusy);
  const off = workers.filter((worker) => !isBusy(worker) && isAgent(worker));
  return (
    <section className="strip" aria-labelledby="working-now">
      <h2 id="working-now">Working now</h2>
      {busy.length === 0 && <p className="dim">No worker is busy.</p>}
      {preparing.map(({ step, elapsedMs }) => (
        <p key={step} className="clamp">
          preparing: {plainLine(step)}, {elapsed(elapsedMs + agoMs)}
        </p>
      ))}
      <ul>
        {busy.slice(0, SHOWN).map((worker) => (
          <li key={worker.name}>
            <p className="title clamp">
              {worker.task && <TaskLink number={worker.task.number} data-item />} {plainLine(worker.task?.title ?? '')}
            </p>
            <p className="row">
              <span className={worker.status}>{worker.name}</span>
              <span>{stageText(worker.mode ?? worker.task?.stage ?? '')}</span>
              <span className="dim">{elapsed(worker.elapsedMs + agoMs)}</span>
            </p>
            <Progress worker={worker} agoMs={agoMs} />
          </li>
        ))}
      </ul>
      {busy.length > SHOWN && (
        <p>
          <PageLink to="/fleet">and {busy.length - SHOWN} more</PageLink>
        </p>
      )}
      {OFF.map(({ status, name }) => {
        const named = off.filter((worker) => worker.status === status).map((worker) => worker.name);
        return named.length === 0 ? null : (
          <p key={status} className={`off ${status}`}>
            {name}: {named.join(', ')}
          </p>
        );
      })}
    </section>
  );
}
