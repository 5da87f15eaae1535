import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { api, isCode, soon } from '../../api.ts';

/**
 *   connecting ─▶ live ⇄ offline        the daemon ended, or froze
 *                  └──⇄ signed_out      it came back with another token; opening the new link in any tab helps this one
 */
export type Liveness = 'connecting' | 'live' | 'offline' | 'signed_out';

const TRY_AGAIN_MS = 1000;
/** At most this often, however many events there are. */
const REFRESH_MS = 200;

/** Follows the log while the page is seen, and has what is shown read anew when something happened. */
export function useLive(project: string | undefined): Liveness {
  const cache = useQueryClient();
  const [connection, setLiveness] = useState<Liveness>('connecting');
  // Browsers keep six connections to a host: tabs nobody looks at must not use them up.
  const isHidden = useSyncExternalStore(onVisibility, () => document.hidden);
  useEffect(() => {
    if (isHidden) return;
    const over = new AbortController();
    void keepFollowing(project, cache, setLiveness, over.signal);
    return () => over.abort();
  }, [project, cache, isHidden]);
  return connection;
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

async function keepFollowing(
  project: string | undefined,
  cache: QueryClient,
  onChange: (connection: Liveness) => void,
  signal: AbortSignal,
): Promise<void> {
  const refresh = refresher(cache);
  let cursor: number | undefined;
  while (!signal.aborted) {
    try {
      await api.health({}, soon(signal));
      if (project !== undefined) cursor ??= (await api.status({ project }, soon(signal))).lastSeq;
      onChange('live');
      void cache.invalidateQueries({}, { cancelRefetch: false });
      if (project !== undefined) {
        for await (const { seq, body } of api.events({ project, after: cursor, follow: true }, signal)) {
          cursor = seq;
          refresh(body.type === 'merge.landed' ? ['status', 'tasks', 'landed'] : ['status', 'tasks']);
        }
        if (!signal.aborted) onChange('offline');
      }
    } catch (error) {
      if (signal.aborted) return;
      onChange(isCode(error, 'unauthorized') ? 'signed_out' : 'offline');
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
}

/** One reading at a time; what comes meanwhile makes one more. */
function refresher(cache: QueryClient): (keys: string[]) => void {
  const due = new Set<string>();
  let isBusy = false;
  return async (keys) => {
    for (const key of keys) due.add(key);
    if (isBusy) return;
    isBusy = true;
    while (due.size > 0) {
      const now = [...due];
      due.clear();
      await Promise.all(now.map((key) => cache.invalidateQueries({ queryKey: [key] })));
      await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    }
    isBusy = false;
  };
}
