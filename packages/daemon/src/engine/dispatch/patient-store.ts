import { AppError } from '@tidemill/contract';
import type { Clock, Store } from '../../ports.ts';

const AGAIN_MS = 500;

/** The server is restarted, or there is no space: it comes back. */
export const isAway = (error: unknown) =>
  error instanceof AppError && error.retriable && (error.code === 'store_failed' || error.code === 'disk_full');

/**
 * The store for whoever works: what cannot be asked or put on record now is tried again until it can, or until all stops.
 * So work that was under way goes on where it was, and is not given up for a database that was restarted.
 */
export function patientStore(
  store: Store,
  clock: Clock,
  stopped: AbortSignal,
  onAway: (error: unknown, isBack: boolean) => void,
): Store {
  let waiting = 0;
  const patiently = async (act: () => Promise<unknown>): Promise<unknown> => {
    let isWaiting = false;
    try {
      for (;;) {
        try {
          const answer = await act();
          if (isWaiting && waiting === 1) onAway(null, true);
          return answer;
        } catch (error) {
          if (!isAway(error) || stopped.aborted) throw error;
          if (!isWaiting) waiting += 1;
          if (!isWaiting && waiting === 1) onAway(error, false);
          isWaiting = true;
          await clock.sleep(AGAIN_MS, stopped);
        }
      }
    } finally {
      if (isWaiting) waiting -= 1;
    }
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      // These answer at once; what they answer comes back by itself.
      if (name === 'subscribe' || name === 'onCommit' || name === 'rows' || name === 'close') return value.bind(target);
      return (...args: unknown[]) => patiently(async () => value.apply(target, args));
    },
  });
}
