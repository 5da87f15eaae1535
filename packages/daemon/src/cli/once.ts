import { randomUUID } from 'node:crypto';
import { AppError, type CallOptions } from '@tidemill/contract';

/**
 * For a command that creates something. When the connection breaks, the request is sent once more with the same
 * idempotency key, so that it takes effect at most once.
 */
export function oneKey(): { key: CallOptions; retried<T>(act: () => Promise<T>): Promise<T> } {
  return {
    key: { idempotencyKey: randomUUID() },
    async retried(act) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'daemon_unreachable' && error.retriable)) throw error;
        return act();
      }
    },
  };
}
