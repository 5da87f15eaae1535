import { useQuery } from '@tanstack/react-query';
import type { TaskMove, TaskSummary } from '@tidemill/contract';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { errorText } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { stageText } from '../../words.ts';
import { needsWords, type Perform } from './use-moves.ts';

interface MoveDialogProps {
  task: TaskSummary;
  /** Chosen already, by dropping the card. */
  move: TaskMove | null;
  perform: Perform;
  onClose: () => void;
}

/** Where a task may go, and why not elsewhere; then what must be said along with it. */
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
            {task.worker === null ? '' : `${task.worker} is stopped. `}Its work is kept. Moving it back to open undoes
            it.
          </p>
        </div>
        <footer>
          <button type="button" onClick={onClose}>
            Keep things as they are
          </button>
          <button type="button" className="danger" onClick={() => perform(task, chosen)}>
            Cancel #{task.number}
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
    queryFn: ({ signal }) => api.task({ project: project.id, task: task.number }, soon(signal)),
  });
  if (error) return <p role="alert">{errorText(error)}</p>;
  if (!data) return <p className="dim">Reading…</p>;
  // They are about the stage it is in, and that is no longer the one it was opened for.
  if (data.task.stage !== task.stage)
    return <p role="alert">It went to {stageText(data.task.stage)} meanwhile. Close this and look again.</p>;
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
  const question = move.via === 'reject' ? 'What should be different?' : 'What should it know?';
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
            Keep things as they are
          </button>
          <button type="submit" className="primary" disabled={isEmpty}>
            Move to {stageText(move.to)}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
