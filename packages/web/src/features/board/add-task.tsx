import { TaskKind, type TaskSummary } from '@tidemill/contract';
import { type ReactNode, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { linesOfText } from '../../plain.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText, showToast } from '../../shell/toasts.tsx';
import { PRIORITY, plural } from '../../words.ts';
import { type Draft, type DraftFaults, type DraftField, faultsOf, isBlank, readDraft, useDraft } from './draft.ts';

interface AddTaskProps {
  onAdded: (task: TaskSummary) => void;
  onClose: () => void;
}

export function AddTask({ onAdded, onClose }: AddTaskProps) {
  const { project } = useShown();
  const [draft, change, reset] = useDraft(project.id);
  const [refused, setRefused] = useState<DraftFaults>({});
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { task, faults } = readDraft(draft);
  // An empty title is an error only after the first attempt to create the task.
  const shown = { ...refused, ...faults, ...(!isTried && draft.title.trim() === '' ? { title: undefined } : {}) };
  const write = (part: Partial<Draft>) => {
    setRefused({});
    change(part);
  };
  const focus = (field: string) => form.current?.querySelector<HTMLElement>(`[name="${field}"]`)?.focus();
  const create = async (isLast: boolean) => {
    setTried(true);
    if (!task) focus(Object.keys(faults)[0] ?? 'title');
    if (!task || isBusy) return;
    setBusy(true);
    try {
      const added = await api.addTask({ project: project.id, ...task });
      onAdded(added);
      showToast(`#${added.number} added`);
      reset();
      setTried(false);
      if (isLast) onClose();
      else focus('title');
    } catch (error) {
      setRefused(faultsOf(error, errorText(error)));
    }
    setBusy(false);
  };
  return (
    <Dialog title="Add a task" onClose={onClose} isWide>
      <form
        ref={form}
        className="add-task"
        onSubmit={(event) => {
          event.preventDefault();
          void create(true);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          if (event.ctrlKey || event.metaKey) void create(true);
          // Enter in a field moves to the next one, so that no task is created by accident.
          else if (event.target instanceof HTMLInputElement) focus('body');
          else return;
          event.preventDefault();
        }}
      >
        {shown.all && (
          <p role="alert" className="fault">
            {shown.all}
          </p>
        )}
        <Fields draft={draft} faults={shown} write={write} />
        <footer>
          {!isBlank(draft) && (
            <button type="button" className="quiet" onClick={reset}>
              Discard draft
            </button>
          )}
          <button type="button" disabled={isBusy} onClick={() => void create(false)}>
            Create and add another
          </button>
          <button type="submit" className="primary" disabled={isBusy} aria-keyshortcuts="Control+Enter">
            Create <kbd>Ctrl Enter</kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  draft: Draft;
  faults: DraftFaults;
  write: (change: Partial<Draft>) => void;
}

function Fields({ draft, faults, write }: FieldsProps) {
  const { project } = useShown();
  const { defaultPipeline, pipelines } = project.rules;
  // The daemon's own choice.
  const usual = draft.kind === 'bug' && pipelines.bug ? 'bug' : defaultPipeline;
  const text = (field: 'title' | 'body' | 'accept' | 'files' | 'after') => ({
    id: `add-${field}`,
    name: field,
    value: draft[field],
    'aria-invalid': faults[field] !== undefined,
    'aria-describedby': `about-${field}`,
    onChange: (event: { target: { value: string } }) => write({ [field]: event.target.value }),
  });
  const criteria = linesOfText(draft.accept).length;
  return (
    <>
      <Field field="title" name="Title" fault={faults.title} about={lengthText(draft.title)}>
        <input {...text('title')} autoComplete="off" placeholder="What should change" />
      </Field>
      <Field field="body" name="Description" fault={faults.body}>
        <textarea {...text('body')} rows={3} />
      </Field>
      <Field
        field="accept"
        name="Acceptance criteria"
        fault={faults.accept}
        about={
          criteria === 0
            ? 'One per line. Without any, the reviewer derives them from title and description.'
            : plural(criteria, 'criterion', 'criteria')
        }
      >
        <textarea {...text('accept')} rows={3} />
      </Field>
      <Field field="files" name="Files it may touch" fault={faults.files} about="One pattern per line, such as src/**.">
        <textarea {...text('files')} rows={2} spellCheck={false} />
      </Field>
      <div className="add-row">
        <Field field="after" name="After" fault={faults.after} about="Tasks to wait for, such as 3, 4">
          <input {...text('after')} autoComplete="off" inputMode="numeric" />
        </Field>
        <Field field="priority" name="Priority" fault={faults.priority}>
          <select
            id="add-priority"
            name="priority"
            value={draft.priority}
            onChange={(event) => write({ priority: Number(event.target.value) })}
          >
            {PRIORITY.map((word, priority) => (
              <option key={word} value={priority}>
                {word}
              </option>
            ))}
          </select>
        </Field>
        <Field field="kind" name="Kind" fault={faults.kind}>
          <select
            id="add-kind"
            name="kind"
            value={draft.kind}
            onChange={(event) => write({ kind: TaskKind.parse(event.target.value) })}
          >
            {TaskKind.options.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </Field>
        <Field field="pipeline" name="Pipeline" fault={faults.pipeline}>
          <select
            id="add-pipeline"
            name="pipeline"
            value={draft.pipeline}
            onChange={(event) => write({ pipeline: event.target.value })}
          >
            <option value="">{usual}</option>
            {Object.keys(pipelines)
              .filter((name) => name !== usual)
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        </Field>
      </div>
    </>
  );
}

const LONG_TITLE = 240;
const lengthText = (title: string) => (title.length > LONG_TITLE ? `${title.length} of 300 characters` : undefined);

interface FieldProps {
  field: DraftField;
  name: string;
  fault: string | undefined;
  about?: string;
  children: ReactNode;
}

function Field({ field, name, fault, about, children }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={`add-${field}`}>{name}</label>
      {children}
      {/* Screen readers announce errors, but not the character count at every key. */}
      <p id={`about-${field}`} className={fault ? 'fault' : 'dim'} role={fault && 'status'}>
        {fault ?? about ?? ''}
      </p>
    </div>
  );
}
