import { setTimeout as delay } from 'node:timers/promises';
import { type Api, alsoText, causesOf, type InboxItem } from '@tidemill/contract';
import { holdLines } from './status-lines.ts';
import { type Terminal, wrap } from './terminal.ts';

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

interface WhatIsLeft {
  /** A line each. */
  left: string[];
  /** The inbox has more about some of it. A setting that is missing is not in the inbox. */
  isInInbox: boolean;
}

/** What `up --until-idle` leaves to a person. */
export async function whatIsLeft(api: Api, project: string): Promise<WhatIsLeft> {
  const [status, inbox] = await Promise.all([api.status({ project }), api.inbox({ project })]);
  const { needsYou, tasks: stages } = status;
  const urgent = inbox.filter(isUrgent);
  // Without a task that could start or go on, nothing is held.
  const isHeldBack = (text: string) => (status.holds.includes(text) ? (stages.open ?? 0) > 0 : hasUnfinished(stages));
  const holds = holdLines(status).filter(isHeldBack);
  const tellsTarget = holds.some((text) => status.holds.includes(text));
  const unsaid = tellsTarget ? urgent.filter((item) => !isAboutTarget(item)) : urgent;
  const alerts = unsaid.map(({ title, text }) => `${title}: ${text}`);
  const causes = causesOf(
    needsYou,
    urgent.map(({ text }) => text),
  );
  const tasks = causes.map(({ number, title, why, also }) => `#${number} ${title}${alsoText(also)}: ${why}`);
  // Those about a task are in its line.
  const questions = inbox.filter(({ kind, isBlocking, task }) => kind === 'question' && isBlocking && !task);
  const left = [...holds, ...alerts, ...questions.map(({ ref, title }) => `${ref}: ${title}`), ...tasks];
  return { left, isInInbox: left.length > holds.length || urgent.length > 0 };
}

/** Tasks that wait for a person have a line of their own. */
const hasUnfinished = (stages: Record<string, number>) =>
  Object.entries(stages).some(
    ([stage, count]) => count > 0 && !['done', 'cancelled', 'blocked', 'needs_info'].includes(stage),
  );

/** Prints a few of them. */
export function sayWhatIsLeft({ left, isInInbox }: WhatIsLeft, { line, width, paint }: Terminal): void {
  if (left.length === 0) return;
  const what = left.length === 1 ? 'One thing needs' : `${left.length} things need`;
  const where = isInInbox ? '. tidemill inbox and tidemill status say what to do:' : ':';
  line(`\n${paint('yellow', `${what} you${where}`)}`);
  for (const each of left.slice(0, MOST_LEFT)) for (const part of wrap(each, width - 4).slice(0, 3)) line(`  ${part}`);
  if (left.length > MOST_LEFT) line(`  and ${left.length - MOST_LEFT} more`);
}

const isUrgent = ({ kind, severity }: InboxItem) =>
  kind === 'alert' && (severity === 'error' || severity === 'critical');

/** The hold says it, too. */
const isAboutTarget = ({ actions }: InboxItem) => actions.some(({ id }) => id === 'repair');

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
