import { elapsed } from '@tidemill/contract';
import { useSyncExternalStore } from 'react';

export { elapsed };

const TICK_MS = 1000;

/** One clock for the whole page: everything that shows a time moves in the same moment, and at one timer's cost. */
let now = Date.now();
let isRunning = true;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function tick(): void {
  if (!isRunning) return;
  now = Date.now();
  for (const tell of listeners) tell();
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

/** Nobody looked for a while: then it stood still. */
function read(): number {
  if (listeners.size === 0 && isRunning && Date.now() - now > TICK_MS) now = Date.now();
  return now;
}

/** Without a connection nothing is known to go on, so the clock does not. */
export function runClock(isLive: boolean): void {
  isRunning = isLive;
  tick();
}

/** Now, anew every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, read);

/** `3 min` since then; drawn anew only when it says something else. */
export const useElapsed = (since: number): string => useSyncExternalStore(subscribe, () => elapsed(read() - since));
