import { type ReactNode, useEffect, useId, useRef } from 'react';

/** The browser's own dialog: it keeps the focus, closes by Escape, and gives the focus back. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode; isWide?: boolean }) {
  const { title, onClose, children, isWide } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    // What it was opened for, rather than the button that closes it. React's autoFocus comes before it is open.
    dialog.querySelector<HTMLElement>('[data-focus], input, textarea, select')?.focus();
    return () => dialog.close();
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
    </dialog>
  );
}
