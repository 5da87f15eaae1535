import { AppError } from '@tidemill/contract';
import { useEffect, useSyncExternalStore } from 'react';
import { plain } from '../plain.ts';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;

let toasts: readonly Toast[] = [];
let nextId = 1;
let dialogs = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const drop = (id: number) => change(toasts.filter((toast) => toast.id !== id));

function add(text: string, isError: boolean): void {
  const id = nextId++;
  // A repeated text is shown once.
  const others = toasts.filter((toast) => toast.text !== text);
  change([...others, { id, text, isError }].slice(-MOST));
  // Errors stay until the person dismisses them.
  if (!isError) setTimeout(() => drop(id), SHOWN_MS);
}

/** Shows a short text about what was just done. */
export const showToast = (text: string) => add(text, false);

/** Shows an error with its hint. */
export function showError(error: unknown): void {
  add(errorText(error), true);
}

export function errorText(error: unknown): string {
  if (!(error instanceof AppError))
    return `This page could not read the daemon's response. Reload it. ${plain(String(error).slice(0, 200))}`;
  // The daemon's own text is for programs.
  if (error.code === 'unauthorized') return 'This page is signed out. Open the link that `tidemill status` prints.';
  const message = error.message.replace(/\.$/, '');
  // Capitalise a plain word, but not the name of a file or a worker.
  const sentence = /^[a-z]+ /.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message;
  return plain(`${sentence}. ${error.hint}`.trim());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** At the edge of the window. While a dialog is open, the dialog shows them, because nothing outside can be reached. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const isCovered = useSyncExternalStore(subscribe, () => dialogs > 0);
  return <ToastList toasts={isCovered ? [] : shown} />;
}

export function DialogToasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  useEffect(() => {
    dialogs += 1;
    change([...toasts]);
    return () => {
      dialogs -= 1;
      change([...toasts]);
    };
  }, []);
  return <ToastList toasts={shown} />;
}

function ToastList({ toasts: shown }: { toasts: readonly Toast[] }) {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <p key={id} className={isError ? 'toast wrong' : 'toast'}>
          <span>{text}</span>
          <button type="button" className="quiet" onClick={() => drop(id)} aria-label={`Dismiss: ${text}`}>
            Dismiss
          </button>
        </p>
      ))}
    </div>
  );
}
