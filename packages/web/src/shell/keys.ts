import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Key {
  /** `g b` means g, then b. */
  keys: string;
  /** The text in the list of keys; empty if another entry covers it. */
  does: string;
  /** Also runs while the key is held down. */
  repeats?: boolean;
  run(): void;
}

/** The longest time between two keys of a sequence. */
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
  // An open dialog handles its own keys.
  if (document.querySelector('dialog[open]')) return;
  const sequence = event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${event.key}` : event.key;
  const found = known.findLast(({ keys }) => keys === sequence) ?? known.findLast(({ keys }) => keys === event.key);
  before = { key: event.key, at: event.timeStamp };
  if (!found) return;
  before = { key: '', at: 0 };
  event.preventDefault();
  if (!event.repeat || found.repeats) found.run();
}

/** Registers keys while the component is mounted; the newest registration of a key wins. */
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
        const repeats = latest.current[index]?.repeats ?? false;
        return { keys, does, repeats, run: () => latest.current[index]?.run() };
      });
    if (known.length === 0) addEventListener('keydown', onKeyDown);
    change([...known, ...own]);
    return () => change(known.filter((key) => !own.includes(key)));
  }, [names]);
}

/** All keys that work now, for the list of keys. */
export function useKnownKeys(): readonly Key[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known,
  );
}

/** `j` and `k` move between the `[data-item]` elements of the page. */
export function moveFocus(step: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')].filter(
    (item) => item.offsetParent !== null,
  );
  const focused = document.activeElement;
  // Focus anywhere inside a list entry counts as that entry.
  const entry = focused?.closest('main li');
  const at = items.findIndex((item) => item.contains(focused) || entry?.contains(item));
  const next = items[at < 0 ? (step === 1 ? 0 : items.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
