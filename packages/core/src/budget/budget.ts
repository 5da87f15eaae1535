import type { Account, BudgetPeriod, BudgetThreshold, EventBody, Mode, Project, Task, Usage } from '@tidemill/contract';
import { ALL_PROJECTS } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { nextPeriodAt, type Purse, pursesOf } from './period.ts';

/** From here on no new work is begun. */
const NO_CLAIMS_PERCENT = 90;
const THRESHOLDS: BudgetThreshold[] = [50, 75, 90, 100];

/** What a run is expected to cost while nothing is known of its like. */
const FIRST_GUESS_USD: Record<Mode, number> = {
  plan: 0.5,
  plan_revision: 0.5,
  investigate: 0.5,
  review: 0.5,
  implement: 1,
  request_changes: 1,
};
/** Above the mean, because a run that costs more than was set aside may have to be stopped. */
const MARGIN = 1.5;
/** Newer runs count as much as this many together. */
const MEMORY_RUNS = 20;
/** Nothing is set aside beyond this part of a limit, or a small budget could never begin anything. */
const LARGEST_PART = 0.5;

const CENT = 0.000_000_1;

/** How much there is to do, as far as it can be told before it is done. */
function sizeOf(task: Task): string {
  const extent = task.body.length / 500 + task.criteria.length * 2 + task.files.length;
  return extent < 6 ? 'small' : extent < 20 ? 'medium' : 'large';
}

export function estimateKey(agent: string, mode: Mode, task: Task): string {
  return `${agent}/${mode}/${sizeOf(task)}`;
}

/** What to set aside for a run, from what runs like it have cost. */
export function estimateOf(purses: Purse[], agent: string, mode: Mode, task: Task): number {
  const known = purses[0]?.account.estimates[estimateKey(agent, mode, task)];
  const guess = known ? known.meanUsd * MARGIN : FIRST_GUESS_USD[mode];
  const smallest = Math.min(...purses.map(({ limits }) => Math.min(limits.dailyUsd, limits.monthlyUsd)));
  return Math.min(guess, smallest * LARGEST_PART);
}

export function learnEstimate(before: Account['estimates'][string] | undefined, costUsd: number) {
  const runs = Math.min((before?.runs ?? 0) + 1, MEMORY_RUNS);
  const mean = before?.meanUsd ?? 0;
  return { runs, meanUsd: mean + (costUsd - mean) / runs };
}

/** What running runs may still spend. */
export const reservedOf = (account: Account) => Object.values(account.reserved).reduce((sum, usd) => sum + usd, 0);

export interface Shortage {
  text: string;
  /** When the period that is used up ends. */
  until: number;
}

/** Why this much cannot be set aside now, or null. Of several reasons the one that lasts longest. */
export function shortageFor(purses: Purse[], wantedUsd: number, now: number): Shortage | null {
  let longest: Shortage | null = null;
  for (const { account, limits } of purses) {
    const reserved = reservedOf(account);
    for (const { period, spent, limit } of periodsOf(account, limits)) {
      const isClosed = spent >= (limit * NO_CLAIMS_PERCENT) / 100 - CENT;
      const isTooMuch = spent + reserved + wantedUsd > limit + CENT;
      if (!isClosed && !isTooMuch) continue;
      const used = `${usd(spent)} of ${usd(limit)} spent, ${usd(reserved)} set aside for running work`;
      const why = isClosed ? `beyond ${NO_CLAIMS_PERCENT} % nothing new is begun` : `${usd(wantedUsd)} more do not fit`;
      const until = nextPeriodAt(period, now, limits.timeZone);
      if (!longest || until > longest.until)
        longest = { text: `The ${period} budget ${whose(account)}: ${used}; ${why}.`, until };
    }
  }
  return longest;
}

/** The first limit that is used up altogether: nobody may go on, whatever was set aside. */
export function exhaustedPeriod(purses: Purse[]): { accountId: string; text: string } | null {
  for (const { account, limits } of purses) {
    for (const { period, spent, limit } of periodsOf(account, limits)) {
      if (spent < limit - CENT) continue;
      const text = `The ${period} budget ${whose(account)} is used up: ${usd(spent)} of ${usd(limit)}.`;
      return { accountId: account.id, text };
    }
  }
  return null;
}

/** Who pays, and how a person gives more. */
const whose = ({ projectId }: Account) => (projectId === ALL_PROJECTS ? 'of all projects' : 'of the project');
export const howToRaise = (accountId: string) =>
  accountId === `account/${ALL_PROJECTS}`
    ? 'raise it with `tidemill budget --total-daily` or `--total-monthly`'
    : 'raise `budget` in .tidemill/config.yaml';

export function periodsOf(account: Account, limits: { dailyUsd: number; monthlyUsd: number }) {
  return [
    { period: 'daily' as BudgetPeriod, spent: account.spentDayUsd, limit: limits.dailyUsd, told: account.told.daily },
    {
      ...{ period: 'monthly' as BudgetPeriod, spent: account.spentMonthUsd, limit: limits.monthlyUsd },
      told: account.told.monthly,
    },
  ];
}

/** What follows from a run having spent so much: thresholds passed, and whether it must stop. */
export function afterSpending(
  slice: Slice,
  project: Project,
  spending: { taskId: string; runId: string; before: Usage; after: Usage; isRunning: boolean },
  env: DecideEnv,
): EventBody[] {
  const more = Math.max(0, (spending.after.costUsd ?? 0) - (spending.before.costUsd ?? 0));
  if (more === 0) return [];
  const events: EventBody[] = [];
  let mustStop = false;
  for (const { account, limits } of pursesOf(slice, project, env.now)) {
    const left = (account.reserved[spending.runId] ?? 0) - more;
    for (const { period, spent, limit, told } of periodsOf(account, limits)) {
      const percent = ((spent + more) / limit) * 100;
      // A limit that was raised meanwhile has its thresholds before it again.
      const passed = Math.min(told, passedAt((spent / limit) * 100) ?? 0);
      const reached = passedAt(percent);
      if (reached !== undefined && reached > passed) {
        const figures = { period, threshold: reached, spentUsd: spent + more, limitUsd: limit };
        events.push({ type: 'budget.threshold_reached', accountId: account.id, ...figures });
      }
      const others = reservedOf(account) - (account.reserved[spending.runId] ?? 0);
      if (left <= CENT && spent + more + others >= limit - CENT) mustStop = true;
    }
  }
  if (mustStop && spending.isRunning) {
    const { taskId, runId, after } = spending;
    events.push({ type: 'run.overdrawn', taskId, runId, spentUsd: after.costUsd ?? 0 });
  }
  return events;
}

const passedAt = (percent: number) => THRESHOLDS.findLast((threshold) => percent >= threshold - CENT);

export function limitBudget(slice: Slice, command: CommandOf<'budget.limit'>): Decision {
  const { accountId, limits, timeZone, by } = command;
  if (accountId !== `account/${ALL_PROJECTS}`)
    return refuse('bad_input', 'a project’s own budget is in its config file', 'set `budget` there');
  const known = slice.record('account', accountId)?.limits;
  const isSame =
    known?.dailyUsd === limits.dailyUsd && known.monthlyUsd === limits.monthlyUsd && known.timeZone === timeZone;
  return isSame ? accept() : accept({ type: 'budget.limited', accountId, limits, timeZone, by });
}

const usd = (amount: number) => `${amount.toFixed(2)} USD`;
