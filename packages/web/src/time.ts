import { elapsed } from '@tidemill/contract';
import { useSyncExternalStore } from 'react';

export { elapsed };

const TICK_MS = 1000;

/** One clock for the whole page, so that all times change together and need only one timer. */
let now = Date.now();
let isRunning = true;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function tick(): void {
  if (!isRunning) return;
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The clock stops while it has no listeners, so the value may be old. */
function read(): number {
  if (listeners.size === 0 && isRunning && Date.now() - now > TICK_MS) now = Date.now();
  return now;
}

/** Stops the clock while the page has no connection. */
export function runClock(isLive: boolean): void {
  isRunning = isLive;
  tick();
}

/** The current time, updated every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, read);

/** `3 min` since then; redrawn only when the text changes. */
export const useElapsed = (since: number): string => useSyncExternalStore(subscribe, () => elapsed(read() - since));
