import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Key {
  /** `g b` is one after the other. */
  keys: string;
  /** In the list of keys; empty for one that another line speaks of already. */
  does: string;
  /** Also while it is held down: only where that does no harm. */
  isHeldToo?: boolean;
  run(): void;
}

/** Two keys of a sequence belong together when they come this close. */
const SEQUENCE_MS = 1000;

let known: readonly Key[] = [];
const listeners = new Set<() => void>();
let before = { key: '', at: 0 };

function change(next: readonly Key[]): void {
  known = next;
  for (const listener of listeners) listener();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')
  );
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
  // A dialog has the keys to itself.
  if (document.querySelector('dialog[open]')) return;
  const sequence = event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${event.key}` : event.key;
  const found = known.findLast(({ keys }) => keys === sequence) ?? known.findLast(({ keys }) => keys === event.key);
  before = { key: event.key, at: event.timeStamp };
  if (!found) return;
  before = { key: '', at: 0 };
  event.preventDefault();
  if (!event.repeat || found.isHeldToo) found.run();
}

/** Makes keys known for as long as the component is there; the newest meaning of a key counts. */
export function useKeys(keys: Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map((key) => `${key.keys}\n${key.does}`).join('\n\n');
  useEffect(() => {
    const own = names
      .split('\n\n')
      .filter((name) => name !== '')
      .map((name, index): Key => {
        const [keys = '', does = ''] = name.split('\n');
        const isHeldToo = latest.current[index]?.isHeldToo ?? false;
        return { keys, does, isHeldToo, run: () => latest.current[index]?.run() };
      });
    if (known.length === 0) addEventListener('keydown', onKeyDown);
    change([...known, ...own]);
    return () => change(known.filter((key) => !own.includes(key)));
  }, [names]);
}

/** All that work right now, for the list of keys. */
export function useKnownKeys(): readonly Key[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known,
  );
}

/** `j` and `k`: from one `[data-item]` of the page to the next. */
export function moveFocus(step: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')].filter(
    (item) => item.offsetParent !== null,
  );
  const focused = document.activeElement;
  // Whatever has the focus within a list's entry, it is at that entry.
  const entry = focused?.closest('main li');
  const at = items.findIndex((item) => item.contains(focused) || entry?.contains(item));
  const next = items[at < 0 ? (step === 1 ? 0 : items.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
