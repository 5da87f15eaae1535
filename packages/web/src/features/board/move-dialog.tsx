import { useQuery } from '@tanstack/react-query';
import type { TaskMove, TaskSummary } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { stageText } from '../../words.ts';
import { needsWords, type Perform } from './use-moves.ts';

interface MoveDialogProps {
  task: TaskSummary;
  /** Already chosen by dropping the card. */
  move: TaskMove | null;
  perform: Perform;
  onClose: () => void;
}

/** Shows where a task may go and why other stages are not possible; then asks for a note if one is needed. */
export function MoveDialog({ task, move: dropped, perform, onClose }: MoveDialogProps) {
  const [chosen, choose] = useState(dropped);
  const pick = (move: TaskMove) => (needsWords(move) ? choose(move) : perform(task, move));
  const name = `#${task.number} ${plainLine(task.title).slice(0, 80)}`;
  if (chosen?.via === 'cancel') {
    return (
      <Dialog key="cancel" title={`Cancel #${task.number}?`} onClose={onClose}>
        <div className="prose">
          <p>{name}</p>
          <p>
            {task.worker === null ? '' : `${task.worker} is stopped. `}Its work is kept. To undo, move it back to open.
          </p>
        </div>
        <footer>
          <button type="button" onClick={onClose}>
            Keep task
          </button>
          <button type="button" className="danger" onClick={() => perform(task, chosen)}>
            Cancel task #{task.number}
          </button>
        </footer>
      </Dialog>
    );
  }
  if (chosen) return <NoteDialog name={name} task={task} move={chosen} perform={perform} onClose={onClose} />;
  return (
    <Dialog title={`Move #${task.number} to…`} onClose={onClose}>
      <p className="dim move-name">{name}</p>
      <Stages task={task} pick={pick} />
    </Dialog>
  );
}

function Stages({ task, pick }: { task: TaskSummary; pick: (move: TaskMove) => void }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['task', project.id, task.number],
    queryFn: ({ signal }) => api.task({ project: project.id, task: task.number }, withTimeout(signal)),
  });
  if (error) return <p role="alert">{errorText(error)}</p>;
  if (!data) return <p className="dim">Loading…</p>;
  // The moves belong to the current stage, which has changed since the dialog opened.
  if (data.task.stage !== task.stage)
    return <p role="alert">The task is now in {stageText(data.task.stage)}. Close this dialog and try again.</p>;
  const first = data.moves.findIndex(({ via }) => via !== null);
  return (
    <ul className="moves" aria-label="Stages">
      {data.moves.map((move, index) => (
        <li key={move.to} className={move.via === null ? 'move-not' : 'move-may'}>
          <button
            type="button"
            disabled={move.via === null}
            // biome-ignore lint/a11y/noAutofocus: the dialog was opened to choose one of these
            autoFocus={index === first}
            aria-describedby={`why-${move.to}`}
            onClick={() => pick(move)}
          >
            {stageText(move.to)}
          </button>
          <span id={`why-${move.to}`}>{move.why}</span>
        </li>
      ))}
    </ul>
  );
}

function NoteDialog(props: { name: string; task: TaskSummary; move: TaskMove; perform: Perform; onClose: () => void }) {
  const { name, task, move, perform, onClose } = props;
  const [note, setNote] = useState('');
  const isEmpty = note.trim() === '';
  const send = () => !isEmpty && perform(task, move, note.trim());
  const question = move.via === 'reject' ? 'What should change?' : 'What should the agent know?';
  return (
    <Dialog title={`${move.via === 'reject' ? 'Reject' : 'Move'} #${task.number}`} onClose={onClose}>
      <form
        className="move-note"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <p className="dim">
          {name} goes to {stageText(move.to)}.
        </p>
        {task.openQuestions.map(({ id, text }) => (
          <p key={id}>{plainLine(text)}</p>
        ))}
        <label htmlFor="move-note">{question}</label>
        <textarea
          id="move-note"
          rows={4}
          maxLength={20_000}
          required
          value={note}
          onChange={(event) => setNote(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && send()}
        />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={isEmpty}>
            Move to {stageText(move.to)}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
