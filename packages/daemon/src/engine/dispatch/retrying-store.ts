import { AppError } from '@tidemill/contract';
import type { Clock, Store } from '../../ports.ts';

const RETRY_MS = 500;

/** The database server restarts or the disk is full. Both are temporary. */
export const isStoreUnavailable = (error: unknown) =>
  error instanceof AppError && error.retriable && (error.code === 'store_failed' || error.code === 'disk_full');

/**
 * Wraps the store for the engine: each call is repeated while the store is unavailable, until it succeeds or the engine
 * stops. Work survives a restart of the database.
 */
export function retryingStore(
  store: Store,
  clock: Clock,
  stopped: AbortSignal,
  onAvailability: (error: unknown, isBack: boolean) => void,
): Store {
  let waiting = 0;
  const retrying = async (act: () => Promise<unknown>): Promise<unknown> => {
    let isWaiting = false;
    try {
      for (;;) {
        try {
          const answer = await act();
          if (isWaiting && waiting === 1) onAvailability(null, true);
          return answer;
        } catch (error) {
          if (!isStoreUnavailable(error) || stopped.aborted) throw error;
          if (!isWaiting) waiting += 1;
          if (!isWaiting && waiting === 1) onAvailability(error, false);
          isWaiting = true;
          await clock.sleep(RETRY_MS, stopped);
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
      // These do not wait for the database, and subscriptions reconnect by themselves.
      if (name === 'subscribe' || name === 'onCommit' || name === 'rows' || name === 'close') return value.bind(target);
      return (...args: unknown[]) => retrying(async () => value.apply(target, args));
    },
  });
}
