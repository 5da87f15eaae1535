import type pg from 'pg';
import type { PostgresAddress } from './postgres-connection.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

/** LISTENs on its own connection and reconnects automatically. One wake-up covers what was missed. */
export function listen(address: PostgresAddress, instance: string, wake: () => void, keepAlive: boolean): () => void {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let ended = false;

  const again = (from: pg.Client) => {
    if (ended || from !== client) return;
    client = null;
    timer = setTimeout(start, retryMs);
    if (!keepAlive) timer.unref();
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };
  const start = () => {
    const fresh = address.plain();
    client = fresh;
    fresh.on('error', () => again(fresh));
    fresh.on('end', () => again(fresh));
    fresh.on('notification', ({ payload }) => {
      // Commits of this process have already woken all subscribers.
      if (payload !== instance) wake();
    });
    fresh
      .connect()
      .then(() => fresh.query(`LISTEN ${address.channel}`))
      .then(() => {
        if (!keepAlive) (fresh as pg.Client & { unref(): void }).unref();
        retryMs = FIRST_RETRY_MS;
        wake();
      })
      .catch(() => again(fresh));
  };
  start();
  return () => {
    ended = true;
    clearTimeout(timer);
    // A connection that is already closed needs no end.
    client?.end().catch(() => undefined);
  };
}
