import type { WorkerView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useShown } from '../../shell/project.tsx';

interface ReassignDialogProps {
  task: { number: number; title: string };
  /** Who works on it. */
  holder: string | null;
  /** Who could: workers of this role. */
  role: WorkerView['role'];
  onClose: () => void;
}

/** Gives a task to a worker, or to whoever comes first; from whoever has it. */
export function ReassignDialog({ task: { number, title }, holder, role, onClose }: ReassignDialogProps) {
  const { project, status } = useShown();
  const [worker, setWorker] = useState('');
  const able = status.workers.filter((one) => one.role === role && one.name !== holder);
  return (
    <FormDialog
      title={`Reassign #${number}?`}
      onClose={onClose}
      yes="Reassign"
      done={`#${number} goes to ${worker || 'whoever comes first'}`}
      send={() => api.reassignTask({ project: project.id, task: number, worker: worker || null, by: 'page' })}
    >
      <p>
        {holder
          ? `${holder} is stopped in its work on ${plainLine(title)}. What it did so far is kept in the worktree, and the next one goes on from there.`
          : 'Nobody works on it right now.'}
      </p>
      <label>
        To
        <select value={worker} onChange={(event) => setWorker(event.target.value)}>
          <option value="">whoever comes first</option>
          {able.map(({ name, status: doing }) => (
            <option key={name} value={name}>
              {name}, {doing}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
