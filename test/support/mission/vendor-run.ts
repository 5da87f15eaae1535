import { globSync } from 'node:fs';
import type { Run, TaskDetail, Usage } from '@tidemill/contract';
import type { Sent } from '../model/mind.ts';
import type { TidemillHome } from '../tidemill-home.ts';
import { until } from '../until.ts';

/** A command that keeps running the first time in a worktree, and does nothing the second time. */
export const BUSY_ONCE = 'if [ -e busy ]; then rm busy; else touch busy; sleep 300 & sleep 300; fi';

/** Waits until an agent runs BUSY_ONCE. */
export async function busy(machine: TidemillHome): Promise<void> {
  await until(() => globSync('projects/*/worktrees/*/busy', { cwd: machine.data }).length > 0);
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

/** The expected usage for these answers. */
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

/** The recorded usage of several runs. */
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
