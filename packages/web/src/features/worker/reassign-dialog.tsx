import type { WorkerView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useShown } from '../../shell/project.tsx';

interface ReassignDialogProps {
  task: { number: number; title: string };
  /** The worker that has it now. */
  holder: string | null;
  /** The role of the workers that can take it. */
  role: WorkerView['role'];
  onClose: () => void;
}

/** Gives a task to another worker, or to any worker. */
export function ReassignDialog({ task: { number, title }, holder, role, onClose }: ReassignDialogProps) {
  const { project, status } = useShown();
  const [worker, setWorker] = useState('');
  const able = status.workers.filter((one) => one.role === role && one.name !== holder);
  return (
    <FormDialog
      title={`Reassign #${number}?`}
      onClose={onClose}
      yes="Reassign"
      done={`#${number} assigned to ${worker || 'any worker'}`}
      send={() => api.reassignTask({ project: project.id, task: number, worker: worker || null, by: 'page' })}
    >
      <p>
        {holder
          ? `${holder} stops working on ${plainLine(title)}. Its work is kept in the worktree, and the next worker continues there.`
          : 'No agent is working on it.'}
      </p>
      <label>
        To
        <select value={worker} onChange={(event) => setWorker(event.target.value)}>
          <option value="">any worker</option>
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
