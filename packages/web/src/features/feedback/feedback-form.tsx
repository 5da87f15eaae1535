import { FeedbackText } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { useTextDraft } from '../../text-draft.ts';

export const FIELD = 'feedback-text';

/** The draft survives leaving the page. */
export function FeedbackForm() {
  const { project } = useShown();
  const draft = useTextDraft(`feedback/${project.id}`, '');
  const may = useMay('operator');
  const run = useAct();
  const [isBusy, setBusy] = useState(false);
  const read = FeedbackText.safeParse(draft.text);
  // An empty field is no error: it is where one starts.
  const fault = read.success || draft.text.trim() === '' ? undefined : read.error.issues[0]?.message;
  const send = async () => {
    if (!read.success || isBusy) return;
    setBusy(true);
    const isGiven = await run(
      () => api.giveFeedback({ project: project.id, by: 'page', text: read.data }),
      'Feedback sent. An analyst reads it.',
    );
    if (isGiven) draft.drop();
    setBusy(false);
  };
  return (
    <form
      className="feedback-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label htmlFor={FIELD}>Your feedback</label>
      <textarea
        id={FIELD}
        rows={4}
        dir="auto"
        value={draft.text}
        disabled={!may}
        placeholder="What did you notice, and what did you expect?"
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : 'feedback-fault'}
        onChange={(event) => draft.write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void send();
        }}
      />
      {fault !== undefined && (
        <p id="feedback-fault" role="alert" className="fault">
          {fault}
        </p>
      )}
      <button
        type="submit"
        className="primary"
        disabled={!may || !read.success}
        aria-busy={isBusy}
        aria-keyshortcuts="Control+Enter"
      >
        Send <kbd>Ctrl Enter</kbd>
      </button>
    </form>
  );
}
