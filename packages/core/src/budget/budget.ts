import type { Account, BudgetPeriod, BudgetThreshold, EventBody, Mode, Project, Task } from '@tidemill/contract';
import { ALL_PROJECTS, MAX_USD, MODES, sumUsd, UNKNOWN_REQUEST_USD } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { Calendars } from './calendar.ts';
import { type Purse, pursesOf } from './period.ts';

/** From here on no new work is begun. */
const NO_CLAIMS_PERCENT = 90;
const THRESHOLDS: BudgetThreshold[] = [50, 75, 90, 100];

/** Above the mean, because a run that costs more than was set aside may have to be stopped. */
const MARGIN = 1.5;
/** Newer runs count as much as this many together. */
const MEMORY_RUNS = 20;
/** Nothing is set aside beyond this part of a limit, or a small budget could never begin anything. */
const LARGEST_PART = 0.5;

/** What a run is given on top, as a part of the smallest limit, when it has used up what was set aside for it. */
const TOP_UP_PART = 0.05;

const CENT = 0.000_000_1;

/** How much there is to do, as far as it can be told before it is done. */
export function sizeOf(task: Task): string {
  const extent = task.body.length / 500 + task.criteria.length * 2 + task.files.length;
  return extent < 6 ? 'small' : extent < 20 ? 'medium' : 'large';
}

/** The same for a job, whose input is all there is to know. */
export const sizeOfInput = (input: string): string =>
  input.length < 3_000 ? 'small' : input.length < 20_000 ? 'medium' : 'large';

export function estimateKey(agent: string, mode: Mode, size: string): string {
  return `${agent}/${mode}/${size}`;
}

/**
 * What to set aside for a run, from what runs like it have cost. Never less than one request of unknown price, which is what
 * a run is charged that is cut short before it reports anything, unless runs like it are free.
 */
export function estimateOf(purses: Purse[], agent: string, mode: Mode, size: string): number {
  const known = purses[0]?.account.estimates[estimateKey(agent, mode, size)];
  const guess = known ? known.meanUsd * MARGIN : MODES[mode].firstGuessUsd;
  const smallest = Math.min(...purses.map(({ limits }) => Math.min(limits.dailyUsd, limits.monthlyUsd)));
  return guess === 0 ? 0 : Math.min(Math.max(guess, UNKNOWN_REQUEST_USD), smallest * LARGEST_PART);
}

export function learnEstimate(before: Account['estimates'][string] | undefined, costUsd: number) {
  const runs = Math.min((before?.runs ?? 0) + 1, MEMORY_RUNS);
  const mean = before?.meanUsd ?? 0;
  return { runs, meanUsd: mean + (costUsd - mean) / runs };
}

/** What running runs may still spend. */
export const reservedOf = (account: Pick<Account, 'reserved'>) => Object.values(account.reserved).reduce(sumUsd, 0);

export interface Shortage {
  text: string;
  /** When the period that is used up ends. */
  until: number;
}

/** Why this much cannot be set aside now, or null. Of several reasons the one that lasts longest. */
export function shortageFor(purses: Purse[], wantedUsd: number, now: number, calendars: Calendars): Shortage | null {
  let longest: Shortage | null = null;
  for (const { account, limits } of purses) {
    const reserved = reservedOf(account);
    for (const { period, spent, limit } of periodsOf(account, limits)) {
      const isClosed = spent >= (limit * NO_CLAIMS_PERCENT) / 100 - CENT;
      const isTooMuch = spent + reserved + wantedUsd > limit + CENT;
      if (!isClosed && !isTooMuch) continue;
      const used = `${usd(spent)} of ${usd(limit)} spent, ${usd(reserved)} set aside for running work`;
      const why = isClosed ? `beyond ${NO_CLAIMS_PERCENT} % nothing new is begun` : `${usd(wantedUsd)} more do not fit`;
      const until = calendars.nextPeriodAt(period, now, limits.timeZone);
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

interface Spent {
  about: { subjectId: string; jobId?: string };
  runId: string;
  /** What it has cost on top of what is booked. */
  moreUsd: number;
  /** In all. */
  spentUsd: number;
  isRunning: boolean;
}

/** What follows from a run having spent so much: thresholds passed, a new reservation, and whether it must stop. */
export function afterSpending(slice: Slice, project: Project, spending: Spent, env: DecideEnv): EventBody[] {
  const { about, runId, moreUsd, spentUsd, isRunning } = spending;
  if (moreUsd === 0) return [];
  const purses = pursesOf(slice, project, env.now).map((purse) => charged(purse, spending));
  const events = purses.flatMap((purse) => thresholds(purse, moreUsd));
  const isUsedUp = purses.some(({ account }) => (account.reserved[runId] ?? 0) <= CENT);
  const free = Math.min(...purses.map(freeOf));
  const granted = isRunning && isUsedUp && free > CENT ? Math.min(free, portion(purses)) : 0;
  for (const purse of purses) events.push(...reserveAnew(purse, runId, granted));
  if (isRunning && isUsedUp && granted === 0) events.push({ type: 'run.overdrawn', ...about, runId, spentUsd });
  return events;
}

/** What a run gets at a time once it has used up what was set aside for it: so little that the others are not starved. */
function portion(purses: Purse[]): number {
  const smallest = Math.min(...purses.map(({ limits }) => Math.min(limits.dailyUsd, limits.monthlyUsd)));
  return Math.max(UNKNOWN_REQUEST_USD, smallest * TOP_UP_PART);
}

/** The account once the run has paid, first out of what was set aside for it. What is left of that ends with the run. */
function charged({ account, limits }: Purse, { runId, moreUsd, isRunning }: Spent): Purse {
  const { [runId]: left, ...others } = account.reserved;
  return {
    limits,
    account: {
      ...account,
      spentDayUsd: sumUsd(account.spentDayUsd, moreUsd),
      spentMonthUsd: sumUsd(account.spentMonthUsd, moreUsd),
      reserved: left === undefined || !isRunning ? others : { ...others, [runId]: Math.max(0, left - moreUsd) },
    },
  };
}

/** What is neither spent nor set aside; below zero when more is promised than there is. */
function freeOf({ account, limits }: Purse): number {
  const left = periodsOf(account, limits).map(({ spent, limit }) => limit - spent);
  return Math.min(...left) - reservedOf(account);
}

/**
 * A run that needs more gets what was granted. When it has spent what was set aside for others, they get less: what is
 * spent and set aside together never passes the limit.
 */
function reserveAnew(purse: Purse, runId: string, granted: number): EventBody[] {
  const { account } = purse;
  const reserved: Account['reserved'] = {};
  if (granted > 0) reserved[runId] = (account.reserved[runId] ?? 0) + granted;
  const promised = reservedOf(account);
  const missing = -freeOf(purse);
  if (missing > CENT && promised > 0) {
    const part = Math.max(0, 1 - missing / promised);
    for (const [id, usd] of Object.entries(account.reserved)) reserved[id] = usd * part;
  }
  return Object.keys(reserved).length > 0 ? [{ type: 'budget.reserved', accountId: account.id, reserved }] : [];
}

function thresholds({ account, limits }: Purse, moreUsd: number): EventBody[] {
  return periodsOf(account, limits).flatMap(({ period, spent, limit, told }): EventBody[] => {
    // A limit that was raised meanwhile has its thresholds before it again.
    const passed = Math.min(told, passedAt(percentOf(spent - moreUsd, limit)) ?? 0);
    const reached = passedAt(percentOf(spent, limit));
    if (reached === undefined || reached <= passed) return [];
    const figures = { period, threshold: reached, spentUsd: spent, limitUsd: limit };
    return [{ type: 'budget.threshold_reached', accountId: account.id, ...figures }];
  });
}

export const percentOf = (spent: number, limit: number) => Math.min((spent / limit) * 100, MAX_USD);
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
