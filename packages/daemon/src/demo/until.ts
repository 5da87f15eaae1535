import type { Api } from '@tidemill/contract';

/** A project whose log is followed. */
export interface Following {
  api: Api;
  project: string;
  signal: AbortSignal;
}

/** Looks after every event until there is nothing more to wait for. Ends early when the signal aborts. */
export async function until({ api, project, signal }: Following, isOver: () => Promise<boolean>): Promise<void> {
  const over = new AbortController();
  const { lastSeq } = await api.status({ project });
  try {
    if (await isOver()) return;
    for await (const _ of api.events({ project, after: lastSeq, follow: true }, AbortSignal.any([signal, over.signal])))
      if (signal.aborted || (await isOver())) return;
  } finally {
    over.abort();
  }
}
