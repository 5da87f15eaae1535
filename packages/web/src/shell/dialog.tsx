import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { DialogToasts } from './toasts.tsx';

/** The browser's own dialog: it traps the focus, closes with Escape, and returns the focus. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode; isWide?: boolean }) {
  const { title, onClose, children, isWide } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect closes the dialog before it leaves the document. Otherwise the browser does not return the focus.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const opener = document.activeElement;
    dialog.showModal();
    // Focus the first field, not the close button. React's autoFocus runs before the dialog is open.
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
      <DialogToasts />
    </dialog>
  );
}
