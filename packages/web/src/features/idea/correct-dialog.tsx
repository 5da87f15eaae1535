import type { Idea, IdeaCorrection } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useProject } from '../../shell/project.tsx';

const TITLE = { artifact: 'artifact', decision: 'decision', risk: 'risk', confidence: 'confidence' };

interface CorrectDialogProps {
  idea: Idea;
  correction: IdeaCorrection;
  onClose(): void;
}

/** Writes a signal. Replies of the agent leave it as the person wrote it. */
export function CorrectDialog({ idea, correction, onClose }: CorrectDialogProps) {
  const project = useProject();
  const [draft, setDraft] = useState<IdeaCorrection>(correction);
  const isReady =
    draft.kind === 'confidence' ||
    (draft.kind === 'artifact'
      ? draft.type.trim() !== '' && (draft.summary + draft.content).trim() !== ''
      : draft.text.trim() !== '');
  return (
    <FormDialog
      title={`Correct the ${TITLE[draft.kind]}`}
      onClose={onClose}
      send={() => api.correctIdea({ project: project.id, idea: String(idea.number), correction: draft, by: 'page' })}
      done="Saved; the agent keeps to it"
      yes="Save"
      isReady={isReady}
    >
      <Fields draft={draft} change={setDraft} isNew={correction.kind === 'artifact' && correction.type === ''} />
    </FormDialog>
  );
}

interface FieldsProps {
  draft: IdeaCorrection;
  change(draft: IdeaCorrection): void;
  isNew: boolean;
}

function Fields({ draft, change, isNew }: FieldsProps) {
  if (draft.kind === 'confidence')
    return <Share value={draft.value} onChange={(value) => change({ ...draft, value })} />;
  if (draft.kind === 'artifact')
    return (
      <>
        {isNew && (
          <label>
            Type, such as target-user, problem or brief
            <input value={draft.type} onChange={(event) => change({ ...draft, type: event.target.value })} />
          </label>
        )}
        <Text label="Summary" value={draft.summary} rows={2} onChange={(summary) => change({ ...draft, summary })} />
        <Text
          label="Content, as Markdown"
          value={draft.content}
          rows={8}
          onChange={(content) => change({ ...draft, content })}
        />
        <Share value={draft.confidence} onChange={(confidence) => change({ ...draft, confidence })} />
      </>
    );
  return (
    <>
      <Text label="Text" value={draft.text} rows={3} onChange={(text) => change({ ...draft, text })} />
      {draft.kind === 'decision' ? (
        <label className="choice">
          <input
            type="checkbox"
            checked={draft.type === 'validation'}
            onChange={(event) => change({ ...draft, type: event.target.checked ? 'validation' : 'decision' })}
          />
          Evidence supports it (validation)
        </label>
      ) : (
        <label>
          Severity
          <select
            value={draft.severity}
            onChange={(event) => change({ ...draft, severity: event.target.value as typeof draft.severity })}
          >
            <option value="low">low</option>
            <option value="medium">medium</option>
            <option value="high">high</option>
          </select>
        </label>
      )}
    </>
  );
}

interface TextProps {
  label: string;
  value: string;
  rows: number;
  onChange(value: string): void;
}

const Text = ({ label, value, rows, onChange }: TextProps) => (
  <label>
    {label}
    <textarea rows={rows} dir="auto" value={value} onChange={(event) => onChange(event.target.value)} />
  </label>
);

const Share = ({ value, onChange }: { value: number; onChange(value: number): void }) => (
  <label>
    Confidence in percent
    <input
      type="number"
      min={0}
      max={100}
      value={Math.round(value * 100)}
      onChange={(event) => onChange(Math.min(100, Math.max(0, Number(event.target.value) || 0)) / 100)}
    />
  </label>
);
