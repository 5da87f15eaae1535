import { useSyncExternalStore } from 'react';

interface Kept {
  text: string;
  /** The text that the draft started from. */
  from: string;
}

/** Unsaved text. It survives leaving the page, and live updates do not change it. */
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
  // Only with drafts: the listener disables the browser's back/forward cache.
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
  /** There is unsaved text. */
  isChanged: boolean;
  /** The text that the draft started from has changed. */
  isChangedElsewhere: boolean;
  write(text: string): void;
  /** Discards the draft and uses the current text. */
  drop(): void;
  /** Keeps the draft over the current text. */
  keep(): void;
}

/** A text that follows `now` until the person types; then the draft stays until it is saved or discarded. */
export function useTextDraft(key: string, now: string): TextDraft {
  useDrafts();
  const kept = drafts.get(key);
  return {
    text: kept?.text ?? now,
    isChanged: kept !== undefined,
    isChangedElsewhere: kept !== undefined && kept.from !== now,
    write: (text) => {
      const from = drafts.get(key)?.from ?? now;
      change(key, text === from && from === now ? null : { text, from });
    },
    drop: () => change(key, null),
    keep: () => kept && change(key, { text: kept.text, from: now }),
  };
}

/** The keys of unsaved drafts, without their common prefix. */
export function useUnsaved(beginning: string): string[] {
  useDrafts();
  return [...drafts.keys()].filter((key) => key.startsWith(beginning)).map((key) => key.slice(beginning.length));
}

export function dropDrafts(beginning: string): void {
  for (const key of [...drafts.keys()]) if (key.startsWith(beginning)) change(key, null);
}
