import type { WorkerView } from '@tidemill/contract';
import { TaskLink } from '../../shell/page-link.tsx';
import { elapsed } from '../../time.ts';
import { stageText } from '../../words.ts';

export function WorkingNow({ workers, agoMs }: { workers: WorkerView[]; agoMs: number }) {
  const busy = workers.filter(({ task }) => task !== null);
  const idle = workers.filter(({ task, role }) => task === null && (role === 'builder' || role === 'reviewer'));
  return (
    <section className="strip" aria-labelledby="working-now">
      <h2 id="working-now">Working now</h2>
      {busy.length === 0 && <p className="dim">Nobody right now.</p>}
      <ul>
        {busy.map((worker) => (
          <li key={worker.name}>
            <p className="title clamp">
              {worker.task && <TaskLink number={worker.task.number} data-item />} {worker.task?.title}
            </p>
            <p className="row">
              <span className={worker.status}>{worker.name}</span>
              <span>{stageText(worker.mode ?? worker.task?.stage ?? '')}</span>
              <span className="dim">{elapsed(worker.elapsedMs + agoMs)}</span>
            </p>
            {worker.progress && (
              <p className="row">
                <progress value={worker.progress.percent} max={100} aria-label={`${worker.name}: progress`} />
                <span className="dim">
                  {Math.round(worker.progress.percent)} % {worker.progress.text}
                </span>
              </p>
            )}
          </li>
        ))}
      </ul>
      {idle.length > 0 && <p className="idle">Idle: {idle.map(({ name }) => name).join(', ')}</p>}
    </section>
  );
}
