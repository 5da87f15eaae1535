import { useSyncExternalStore } from 'react';
import { elapsed } from '../../time.ts';

/** One clock for all cards: each is drawn anew only when what it says changes. */
let now = Date.now();
let isRunning = true;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0 && isRunning) now = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (!isRunning) return;
    now = Date.now();
    for (const tell of listeners) tell();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Without a connection nothing is known to go on, so the clock does not. */
export function runClock(isLive: boolean): void {
  isRunning = isLive;
  if (isLive) now = Date.now();
}

export const useElapsed = (since: number): string => useSyncExternalStore(subscribe, () => elapsed(now - since));
