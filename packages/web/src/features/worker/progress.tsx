import './progress.css';
import type { WorkerView } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';

/** The progress that an agent reports, if any. */
export function Progress({ worker: { name, progress } }: { worker: WorkerView }) {
  if (!progress) return null;
  const percent = Math.round(progress.percent);
  return (
    <p className="progress">
      <progress value={progress.percent} max={100} aria-label={`${name}: progress`} />
      <span>{percent} %</span> <span className="dim clamp">{plainLine(progress.text)}</span>
    </p>
  );
}
