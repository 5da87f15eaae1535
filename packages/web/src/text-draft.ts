import { useSyncExternalStore } from 'react';

interface Kept {
  text: string;
  /** What it was written from. */
  from: string;
}

/** What somebody has typed and not saved: it outlives the page it was typed on, and no live update touches it. */
const drafts = new Map<string, Kept>();
const listeners = new Set<() => void>();
let version = 0;

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function change(key: string, kept: Kept | null): void {
  if (kept) drafts.set(key, kept);
  else drafts.delete(key);
  version += 1;
  // Only while there is something to lose: else it would keep the browser from going back quickly.
  if (drafts.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
  for (const listener of listeners) listener();
}

function useDrafts(): void {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => version,
  );
}

export interface TextDraft {
  text: string;
  /** Something is typed that is not saved. */
  isChanged: boolean;
  /** What it was written from has changed meanwhile. */
  isOvertaken: boolean;
  write(text: string): void;
  /** What is there now counts; what was typed is dropped. */
  drop(): void;
  /** What was typed counts, also over what is there now. */
  keep(): void;
}

/** A text that follows `now` until somebody types, and then is theirs until it is saved or dropped. */
export function useTextDraft(key: string, now: string): TextDraft {
  useDrafts();
  const kept = drafts.get(key);
  return {
    text: kept?.text ?? now,
    isChanged: kept !== undefined,
    isOvertaken: kept !== undefined && kept.from !== now,
    write: (text) => {
      const from = drafts.get(key)?.from ?? now;
      change(key, text === from && from === now ? null : { text, from });
    },
    drop: () => change(key, null),
    keep: () => kept && change(key, { text: kept.text, from: now }),
  };
}

/** The keys under which something unsaved lies, without the beginning that they share. */
export function useUnsaved(beginning: string): string[] {
  useDrafts();
  return [...drafts.keys()].filter((key) => key.startsWith(beginning)).map((key) => key.slice(beginning.length));
}

export function dropDrafts(beginning: string): void {
  for (const key of [...drafts.keys()]) if (key.startsWith(beginning)) change(key, null);
}
