import type { WorkerView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';

const ANYBODY = '';

/** Takes a worker's task from it, for another or for whoever comes first. */
export function Reassign({ worker, workers }: { worker: WorkerView; workers: WorkerView[] }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('operator');
  return (
    <>
      <button type="button" disabled={!may} onClick={() => setOpen(true)}>
        Reassign <span className="unseen">#{worker.task?.number}</span>
      </button>
      {isOpen && <Choose worker={worker} workers={workers} onClose={() => setOpen(false)} />}
    </>
  );
}

function Choose({ worker, workers, onClose }: { worker: WorkerView; workers: WorkerView[]; onClose: () => void }) {
  const { project } = useShown();
  const [to, setTo] = useState(ANYBODY);
  const act = useAct();
  const { task, name } = worker;
  const others = workers.filter((other) => other.role === 'builder' && other.name !== name);
  const give = async () => {
    const target = to === ANYBODY ? null : to;
    const isDone = await act(
      () => api.reassignTask({ project: project.id, task: task!.number, worker: target, by: 'page' }),
      `#${task!.number} goes to ${target ?? 'whoever comes first'}`,
    );
    if (isDone) onClose();
  };
  return (
    <Dialog title={`Reassign #${task?.number}?`} onClose={onClose}>
      <div className="prose">
        <p>
          {name} is stopped in its work on {task?.title}. What it did so far is kept in the worktree, and the next one
          goes on from there.
        </p>
        <label>
          To{' '}
          <select value={to} onChange={(event) => setTo(event.target.value)}>
            <option value={ANYBODY}>whoever comes first</option>
            {others.map(({ name: other, status }) => (
              <option key={other} value={other}>
                {other}, {status}
              </option>
            ))}
          </select>
        </label>
      </div>
      <footer>
        <button type="button" onClick={onClose}>
          Keep things as they are
        </button>
        <button type="button" className="primary" onClick={() => void give()}>
          Reassign
        </button>
      </footer>
    </Dialog>
  );
}
