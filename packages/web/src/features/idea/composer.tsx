import { MAX_MESSAGE_LENGTH } from '@tidemill/contract';
import { useState } from 'react';
import { useAct, useMay } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { useTextDraft } from '../../text-draft.ts';

interface ComposerProps {
  id: string;
  /** The text survives leaving the page under this key. */
  draftKey: string;
  label: string;
  yes: string;
  note?: string;
  send(text: string): Promise<unknown>;
}

/** A field for a message. Enter sends it, Shift and Enter begin a line. */
export function Composer({ id, draftKey, label, yes, note, send }: ComposerProps) {
  const { connection } = useShown();
  const draft = useTextDraft(draftKey, '');
  const [isBusy, setBusy] = useState(false);
  const act = useAct();
  const may = useMay('operator');
  const { text } = draft;
  const isLong = text.length > MAX_MESSAGE_LENGTH;
  const isLost = connection === 'offline' || connection === 'signed_out';
  const isReady = text.trim() !== '' && !isLong && may && !isLost;
  const submit = async () => {
    if (!isReady || isBusy) return;
    setBusy(true);
    // The text is kept when the request fails.
    const isSent = await act(() => send(text));
    setBusy(false);
    if (isSent) draft.drop();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
        dir="auto"
        value={text}
        disabled={!may}
        aria-invalid={isLong || undefined}
        aria-describedby={`${id}-note`}
        onChange={(event) => draft.write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void submit();
        }}
      />
      <p className="row">
        <button type="submit" className="primary" disabled={!isReady} aria-busy={isBusy}>
          {yes}
        </button>
        <span id={`${id}-note`} className={isLong ? 'failed' : 'dim'} role={isLong ? 'alert' : undefined}>
          {isLong
            ? `${text.length.toLocaleString('en-US')} characters; a message has at most ${MAX_MESSAGE_LENGTH.toLocaleString('en-US')}. Put longer text into a file of the repository and name the file.`
            : (note ?? 'Enter sends it, Shift+Enter begins a line.')}
        </span>
      </p>
    </form>
  );
}
