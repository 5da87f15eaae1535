import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { DialogNotices } from './notices.tsx';

/** The browser's own dialog: it keeps the focus, closes by Escape, and gives the focus back. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode; isWide?: boolean }) {
  const { title, onClose, children, isWide } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before it is taken out of the document: only then the browser gives the focus back.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const opener = document.activeElement;
    dialog.showModal();
    // What it was opened for, rather than the button that closes it. React's autoFocus comes before it is open.
    dialog.querySelector<HTMLElement>('[data-focus], input, textarea, select')?.focus();
    return () => {
      dialog.close();
      if (opener === document.body || !opener?.isConnected) document.getElementById('content')?.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      className={isWide ? 'wide' : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="quiet" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {children}
      <DialogNotices />
    </dialog>
  );
}
