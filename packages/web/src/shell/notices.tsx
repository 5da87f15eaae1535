import { AppError } from '@tidemill/contract';
import { useSyncExternalStore } from 'react';

interface Notice {
  id: number;
  text: string;
  isError: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;

let notices: readonly Notice[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

const drop = (id: number) => change(notices.filter((notice) => notice.id !== id));

function add(text: string, isError: boolean): void {
  const id = nextId++;
  change([...notices, { id, text, isError }].slice(-MOST));
  // What went wrong stays until the person has seen it.
  if (!isError) setTimeout(() => drop(id), SHOWN_MS);
}

/** A few words about what was just done. */
export const tell = (text: string) => add(text, false);

/** What went wrong, and what would be right. */
export function complain(error: unknown): void {
  add(errorText(error), true);
}

export function errorText(error: unknown): string {
  if (error instanceof AppError) return `${error.message}. ${error.hint}`.replace(/\.\. /, '. ').trim();
  return `This page could not read the daemon's answer. Load it again. ${String(error).slice(0, 200)}`;
}

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <p key={id} className={isError ? 'notice wrong' : 'notice'}>
          <span>{text}</span>
          <button type="button" className="quiet" onClick={() => drop(id)} aria-label={`Dismiss: ${text}`}>
            Dismiss
          </button>
        </p>
      ))}
    </div>
  );
}
