import type { TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { linesOfText } from '../../plain.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { PRIORITY } from '../../words.ts';

const isSame = (a: string[], b: string[]) => a.length === b.length && a.every((line, index) => line === b[index]);

/** Edits a task. Sends only changed fields, so that two people do not overwrite each other. */
export function EditDialog({ detail, onClose }: { detail: TaskDetail; onClose: () => void }) {
  // The task as it was when the dialog opened, to find what this person changed.
  const [task] = useState(detail.task);
  const known = { accept: task.criteria.map(({ text }) => text), files: task.files };
  const [title, setTitle] = useState(task.title);
  const [body, setBody] = useState(task.body);
  const [accept, setAccept] = useState(known.accept.join('\n'));
  const [files, setFiles] = useState(known.files.join('\n'));
  const [priority, setPriority] = useState(task.priority);
  const changed = {
    ...(title.trim() !== task.title && { title: title.trim() }),
    ...(body !== task.body && { body }),
    ...(!isSame(linesOfText(accept), known.accept) && { accept: linesOfText(accept) }),
    ...(!isSame(linesOfText(files), known.files) && { files: linesOfText(files) }),
    ...(priority !== task.priority && { priority }),
  };
  return (
    <FormDialog
      title={`Edit #${task.number}`}
      isWide
      onClose={onClose}
      yes="Save"
      done={`#${task.number} changed`}
      isReady={title.trim() !== '' && Object.keys(changed).length > 0}
      send={() => api.editTask({ project: task.projectId, task: task.number, ...changed })}
    >
      <label>
        Title
        <input value={title} maxLength={300} required onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label>
        Description
        <textarea rows={6} value={body} maxLength={200_000} onChange={(event) => setBody(event.target.value)} />
      </label>
      <label>
        Acceptance criteria, one per line
        <textarea rows={4} value={accept} onChange={(event) => setAccept(event.target.value)} />
      </label>
      <label>
        Files it may touch, one pattern per line (empty: all)
        <textarea rows={2} value={files} onChange={(event) => setFiles(event.target.value)} />
      </label>
      <label>
        Priority
        <select value={priority} onChange={(event) => setPriority(Number(event.target.value))}>
          {PRIORITY.map((word, value) => (
            <option key={word} value={value}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {task.lease && <p className="dim">The current run does not see this change. The next run does.</p>}
    </FormDialog>
  );
}
