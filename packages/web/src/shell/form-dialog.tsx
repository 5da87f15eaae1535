import './form.css';
import { type ReactNode, useState } from 'react';
import { useAct, useMay } from './action.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  title: string;
  onClose: () => void;
  /** If it throws, the dialog stays open and keeps what was typed. */
  send: () => Promise<unknown>;
  done: string;
  yes: string;
  isReady?: boolean;
  isWide?: boolean;
  children: ReactNode;
}

export function FormDialog({ title, onClose, send, done, yes, isReady = true, isWide, children }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const run = useAct();
  const may = useMay('operator');
  const submit = async () => {
    setBusy(true);
    const isDone = await run(send, done);
    setBusy(false);
    if (isDone) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isBusy) void submit();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        {children}
        {!may && <p className="waiting">This needs the role operator.</p>}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={!isReady || !may} aria-busy={isBusy}>
            {yes}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
