import { AppError } from '@tidemill/contract';
import { useEffect, useSyncExternalStore } from 'react';
import { plain } from '../plain.ts';

interface Notice {
  id: number;
  text: string;
  isError: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;

let notices: readonly Notice[] = [];
let nextId = 1;
let dialogs = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

const drop = (id: number) => change(notices.filter((notice) => notice.id !== id));

function add(text: string, isError: boolean): void {
  const id = nextId++;
  // What is said again is said once.
  const others = notices.filter((notice) => notice.text !== text);
  change([...others, { id, text, isError }].slice(-MOST));
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
  if (!(error instanceof AppError))
    return `This page could not read the daemon's answer. Load it again. ${plain(String(error).slice(0, 200))}`;
  // What the daemon says then is meant for programs.
  if (error.code === 'unauthorized') return 'This page is signed out. Open the link that `tidemill status` prints.';
  const message = error.message.replace(/\.$/, '');
  // A plain word: what begins with the name of a file or a worker stays as it is.
  const begun = /^[a-z]+ /.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message;
  return plain(`${begun}. ${error.hint}`.trim());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What was told, at the edge of the window. While a dialog is open it has them: nothing outside can be reached. */
export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  const isCovered = useSyncExternalStore(subscribe, () => dialogs > 0);
  return <NoticeList notices={isCovered ? [] : shown} />;
}

export function DialogNotices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  useEffect(() => {
    dialogs += 1;
    change([...notices]);
    return () => {
      dialogs -= 1;
      change([...notices]);
    };
  }, []);
  return <NoticeList notices={shown} />;
}

function NoticeList({ notices: shown }: { notices: readonly Notice[] }) {
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
