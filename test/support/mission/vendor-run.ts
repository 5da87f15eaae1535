import { globSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventBody, Run, TaskDetail, Usage } from '@tidemill/contract';
import type { Sent } from '../model/mind.ts';
import type { TidemillHome } from '../tidemill-home.ts';

/** A command that is in the middle of something the first time it is run in a worktree, and does nothing the second. */
export const BUSY_ONCE = 'if [ -e busy ]; then rm busy; else touch busy; sleep 300 & sleep 300; fi';

/** Waits until an agent runs BUSY_ONCE. */
export async function busy(machine: TidemillHome): Promise<void> {
  while (globSync('projects/*/worktrees/*/busy', { cwd: machine.data }).length === 0) await delay(20);
}

/** Waits for the running daemon's log to hold such an event, whenever it came. */
export async function happened<Type extends EventBody['type']>(
  machine: TidemillHome,
  type: Type,
  isIt: (body: Extract<EventBody, { type: Type }>) => boolean = () => true,
): Promise<void> {
  const over = new AbortController();
  for await (const { body } of machine.api().events({ follow: true, types: [type] }, over.signal))
    if (isIt(body as Extract<EventBody, { type: Type }>)) break;
  over.abort();
}

/** Oldest first. */
export async function runsOf(machine: TidemillHome, root: string, number: number): Promise<Run[]> {
  const { runs } = await machine.json<TaskDetail>(['task', 'show', String(number)], root);
  return runs.toSorted((a, b) => a.startedAt - b.startedAt);
}

/** USD per million tokens. */
export interface Price {
  input: number;
  cached: number;
  output: number;
}

/** What the books must say of these answers. */
export function bill(sent: Sent[], price: Price) {
  const sum = (pick: (one: Sent) => number) => sent.reduce((total, one) => total + pick(one), 0);
  const usd = sum(
    ({ input, cached, output }) => (input - cached) * price.input + cached * price.cached + output * price.output,
  );
  return {
    inputTokens: sum(({ input }) => input),
    outputTokens: sum(({ output }) => output),
    requests: sent.length,
    usd: cents(usd / 1_000_000),
    assumedUsd: 0,
  };
}

/** The same of what is in the books, over several runs. */
export function booked(runs: { usage: Usage }[]) {
  const sum = (pick: (usage: Usage) => number) => runs.reduce((total, { usage }) => total + pick(usage), 0);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    requests: sum(({ requests }) => requests),
    usd: cents(sum(({ costUsd }) => costUsd ?? 0)),
    assumedUsd: cents(sum(({ assumedUsd }) => assumedUsd ?? 0)),
  };
}

/** Sums of fractions are compared to a millionth of a cent. */
const cents = (usd: number) => Number(usd.toFixed(8));
