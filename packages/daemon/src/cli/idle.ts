import { setTimeout as delay } from 'node:timers/promises';
import type { Api, InboxItem } from '@tidemill/contract';
import { fit, oneLine, type Terminal } from './terminal.ts';

/** Polled too, because running out of work (an exhausted budget, for example) is not an event. */
const LOOK_MS = 2_000;
const MOST_LEFT = 5;

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

/** What `up --until-idle` leaves to a person, in a few lines. */
export async function sayWhatIsLeft(api: Api, project: string, { line, width, paint }: Terminal): Promise<void> {
  const items = (await api.inbox({ project })).filter(needsPerson);
  if (items.length === 0) return;
  const what = items.length === 1 ? 'One thing needs' : `${items.length} things need`;
  line(`\n${paint('yellow', `${what} you. tidemill inbox says what to do:`)}`);
  for (const { ref, title, text, kind } of items.slice(0, MOST_LEFT))
    line(fit(`  ${ref}  ${oneLine(kind === 'alert' ? `${title}: ${text}` : title)}`, width));
}

const needsPerson = ({ kind, severity, isBlocking }: InboxItem) =>
  isBlocking || kind === 'approval' || (kind === 'alert' && (severity === 'error' || severity === 'critical'));

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
