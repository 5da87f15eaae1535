import { randomUUID } from 'node:crypto';
import { AppError, type CallOptions } from '@tidemill/contract';

/**
 * For a command that makes something: when the connection breaks one cannot know whether it was made, so the same request
 * is sent once more under the same key, which makes it at most once.
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
