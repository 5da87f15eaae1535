import { type TaskDetail, workerName } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Command } from '../../shell/command.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { stageText } from '../../words.ts';
import { ReassignDialog } from '../worker/reassign-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

export type Opened = 'approve' | 'reject' | 'retry' | 'edit' | 'reassign' | 'worktree' | 'restore';

interface ActionDialogProps {
  detail: TaskDetail;
  onClose: () => void;
}

export function ActionDialog({ opened, ...props }: ActionDialogProps & { opened: Opened }) {
  switch (opened) {
    case 'approve':
      return <ApproveDialog {...props} />;
    case 'reject':
      return <RejectDialog {...props} />;
    case 'retry':
      return <RetryDialog {...props} />;
    case 'edit':
      return <EditDialog {...props} />;
    case 'reassign':
      return <Reassign {...props} />;
    case 'worktree':
      return <WorktreeDialog {...props} />;
    case 'restore':
      return <RestoreDialog {...props} />;
  }
}

function NoteField({ label, value, set }: { label: string; value: string; set: (value: string) => void }) {
  return (
    <label>
      {label}
      <textarea rows={4} maxLength={20_000} value={value} onChange={(event) => set(event.target.value)} />
    </label>
  );
}

function ApproveDialog({ detail: { task, moves }, onClose }: ActionDialogProps) {
  const [note, setNote] = useState('');
  const to = moves.find(({ via }) => via === 'approve')?.to;
  return (
    <FormDialog
      title={`Approve #${task.number}?`}
      onClose={onClose}
      yes="Approve"
      done={`#${task.number} approved`}
      send={() => api.approveTask({ project: task.projectId, task: task.number, ...(note.trim() && { note }) })}
    >
      <p>{to ? `It continues with ${stageText(to)}.` : 'It continues.'}</p>
      <NoteField label="Note (optional)" value={note} set={setNote} />
    </FormDialog>
  );
}

function RejectDialog({ detail: { task, moves }, onClose }: ActionDialogProps) {
  const [note, setNote] = useState('');
  const to = moves.find(({ via }) => via === 'reject')?.to;
  return (
    <FormDialog
      title={`Request changes to #${task.number}?`}
      onClose={onClose}
      yes="Request changes"
      done={`Requested changes to #${task.number}`}
      isReady={note.trim() !== ''}
      send={() => api.rejectTask({ project: task.projectId, task: task.number, note })}
    >
      <p>{to ? `It goes back to ${stageText(to)} with your note.` : 'It goes back with your note.'}</p>
      <NoteField label="What should change" value={note} set={setNote} />
    </FormDialog>
  );
}

function RetryDialog({ detail: { task, moves }, onClose }: ActionDialogProps) {
  const [note, setNote] = useState('');
  const [stage, setStage] = useState('');
  const ways = moves.filter(({ via }) => via === 'retry');
  const needsNote = task.stage === 'needs_info';
  const usual = task.stage === 'cancelled' ? 'open' : (task.resumeStage ?? task.stage);
  return (
    <FormDialog
      title={`Retry #${task.number}?`}
      onClose={onClose}
      yes="Retry"
      done={`#${task.number} restarted`}
      isReady={!needsNote || note.trim() !== ''}
      send={() =>
        api.retryTask({
          project: task.projectId,
          task: task.number,
          ...(note.trim() && { note }),
          ...(stage && { stage }),
        })
      }
    >
      <p>Earlier failures no longer count.</p>
      <label>
        Start from
        <select value={stage} onChange={(event) => setStage(event.target.value)}>
          <option value="">where it stopped ({stageText(usual)})</option>
          {ways.map(({ to }) => (
            <option key={to} value={to}>
              {stageText(to)}
            </option>
          ))}
        </select>
      </label>
      <NoteField
        label={needsNote ? 'Your answer to its question' : 'Note to the next agent (optional)'}
        value={note}
        set={setNote}
      />
    </FormDialog>
  );
}

function Reassign({ detail: { task }, onClose }: ActionDialogProps) {
  const holder = task.lease ? workerName(task.lease.workerId) : null;
  const role = task.role === null || task.role === 'merger' ? 'builder' : task.role;
  return <ReassignDialog task={task} holder={holder} role={role} onClose={onClose} />;
}

function WorktreeDialog({ detail: { task, worktree }, onClose }: ActionDialogProps) {
  const folder = worktree ?? '';
  const link = `vscode://file${folder.startsWith('/') ? '' : '/'}${folder.split('/').map(encodeURIComponent).join('/')}`;
  return (
    <Dialog title={`Worktree of #${task.number}`} onClose={onClose}>
      <div className="prose">
        <p>
          Branch <code>{plainLine(task.branch)}</code> is checked out in
        </p>
        <Command text={folder} />
        <Command text={`cd ${quoted(folder)}`} />
        <p>
          <a href={link}>Open in VS Code</a>
        </p>
        <p className="dim">
          {task.lease
            ? 'An agent is working there now. Do not change files until it is done.'
            : 'The next run includes your changes there.'}
        </p>
      </div>
    </Dialog>
  );
}

/** Quotes a text for a shell. */
const quoted = (text: string) => (/^[\w./@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
