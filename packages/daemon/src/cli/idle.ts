import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '@tidemill/contract';

/** Polled too, because running out of work (an exhausted budget, for example) is not an event. */
const LOOK_MS = 2_000;

/** Resolves when the project has no work that can run now, or the signal aborts. */
export async function untilIdle(api: Api, project: string, signal: AbortSignal): Promise<void> {
  const first = await api.status({ project });
  if (first.idle) return;
  const over = new AbortController();
  const ending = AbortSignal.any([signal, over.signal]);
  const look = async () => {
    if (!ending.aborted && (await api.status({ project })).idle) over.abort();
  };
  const looking = poll(look, ending);
  try {
    for await (const _ of api.events({ project, after: first.lastSeq, follow: true }, ending)) {
      await look();
      if (ending.aborted) return;
    }
  } finally {
    over.abort();
    await looking;
  }
}

async function poll(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
    await look();
  }
}

/** Waits for other projects that joined this daemon, so that their work is not interrupted. */
export async function finishOthers(
  api: Api,
  own: string,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  for (const { id, name } of await api.projects({})) {
    if (id === own || signal.aborted) continue;
    const { running, idle } = await api.status({ project: id });
    if (!running || idle) continue;
    say(`\nWaiting for ${name}, which uses the same daemon.`);
    await untilIdle(api, id, signal);
  }
}
