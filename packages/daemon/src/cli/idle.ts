import type { Api } from '@tidemill/contract';

/** Settles when nothing is left in the project that a machine could do, or the signal aborts. */
export async function untilIdle(api: Api, project: string, signal: AbortSignal): Promise<void> {
  const first = await api.status({ project });
  if (first.idle) return;
  for await (const _ of api.events({ project, after: first.lastSeq, follow: true }, signal)) {
    if (signal.aborted || (await api.status({ project })).idle) return;
  }
}

/** A repository that joined this daemon meanwhile is not cut off: whoever started the daemon waits for it. */
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
    say(`\n${name} is at work with the same daemon; waiting for it.`);
    await untilIdle(api, id, signal);
  }
}
