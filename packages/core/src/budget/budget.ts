import type { Account, BudgetPeriod, BudgetThreshold, EventBody, Mode, Project, Task } from '@tidemill/contract';
import { ALL_PROJECTS, MAX_USD, MODES, sumUsd, UNKNOWN_REQUEST_USD } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { Calendars } from './calendar.ts';
import { type BudgetAccount, budgetAccountsOf } from './period.ts';

/** No new work starts at or above this percentage. */
const NO_CLAIMS_PERCENT = 90;
const THRESHOLDS: BudgetThreshold[] = [50, 75, 90, 100];

/** Reserves more than the mean, because a run that exceeds its reservation may be stopped. */
const MARGIN = 1.5;
/** The mean is over about this many recent runs. */
const MEMORY_RUNS = 20;
/** No run reserves more than this part of a limit. Otherwise a small budget could not start any run. */
const LARGEST_PART = 0.5;

/** What a run gets, as a part of the smallest limit, when it has used up its reservation. */
const TOP_UP_PART = 0.05;

const CENT = 0.000_000_1;

/** An estimate of the task's size. */
export function sizeOf(task: Task): string {
  const extent = task.body.length / 500 + task.criteria.length * 2 + task.files.length;
  return extent < 6 ? 'small' : extent < 20 ? 'medium' : 'large';
}

/** The same for a job, from its input. */
export const sizeOfInput = (input: string): string =>
  input.length < 3_000 ? 'small' : input.length < 20_000 ? 'medium' : 'large';

export function estimateKey(agent: string, mode: Mode, size: string): string {
  return `${agent}/${mode}/${size}`;
}

/**
 * What to reserve for a run, from the cost of similar runs. At least one request of unknown price, unless similar runs are
 * free: a run that is stopped before it reports anything is charged that much.
 */
export function estimateOf(budgets: BudgetAccount[], agent: string, mode: Mode, size: string): number {
  const known = budgets[0]?.account.estimates[estimateKey(agent, mode, size)];
  const guess = known ? known.meanUsd * MARGIN : MODES[mode].firstGuessUsd;
  const smallest = Math.min(...budgets.map(({ limits }) => Math.min(limits.dailyUsd, limits.monthlyUsd)));
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
  /** When the exhausted period ends. */
  until: number;
}

/** Why this amount cannot be reserved now, or null. Of several reasons, the one that lasts longest. */
export function shortageFor(
  budgets: BudgetAccount[],
  wantedUsd: number,
  now: number,
  calendars: Calendars,
): Shortage | null {
  let longest: Shortage | null = null;
  for (const { account, limits } of budgets) {
    const reserved = reservedOf(account);
    for (const { period, spent, limit } of periodsOf(account, limits)) {
      const isClosed = spent >= (limit * NO_CLAIMS_PERCENT) / 100 - CENT;
      const isTooMuch = spent + reserved + wantedUsd > limit + CENT;
      if (!isClosed && !isTooMuch) continue;
      const used = `${usd(spent)} of ${usd(limit)} spent, ${usd(reserved)} reserved for running work`;
      const why = isClosed
        ? `no new work starts above ${NO_CLAIMS_PERCENT} %`
        : `another ${usd(wantedUsd)} exceeds the limit`;
      const until = calendars.nextPeriodAt(period, now, limits.timeZone);
      if (!longest || until > longest.until)
        longest = { text: `The ${period} budget ${whose(account)}: ${used}; ${why}.`, until };
    }
  }
  return longest;
}

/** The first limit that is fully spent. Every run must stop then, even with a reservation left. */
export function exhaustedPeriod(budgets: BudgetAccount[]): { accountId: string; text: string } | null {
  for (const { account, limits } of budgets) {
    for (const { period, spent, limit } of periodsOf(account, limits)) {
      if (spent < limit - CENT) continue;
      const text = `The ${period} budget ${whose(account)} is used up: ${usd(spent)} of ${usd(limit)}.`;
      return { accountId: account.id, text };
    }
  }
  return null;
}

/** Whose budget it is, and how to raise it. */
const whose = ({ projectId }: Account) => (projectId === ALL_PROJECTS ? 'of all projects' : 'of the project');
export const howToRaise = (accountId: string) =>
  accountId === `account/${ALL_PROJECTS}`
    ? 'raise it with `tidemill budget --total-daily` or `--total-monthly`'
    : 'raise `budget` in .tidemill/config.yaml';

export function periodsOf(account: Account, limits: { dailyUsd: number; monthlyUsd: number }) {
  return [
    {
      period: 'daily' as BudgetPeriod,
      spent: account.spentDayUsd,
      limit: limits.dailyUsd,
      reported: account.told.daily,
    },
    {
      period: 'monthly' as BudgetPeriod,
      spent: account.spentMonthUsd,
      limit: limits.monthlyUsd,
      reported: account.told.monthly,
    },
  ];
}

interface Spent {
  about: { subjectId: string; jobId?: string };
  runId: string;
  /** The cost that is not booked yet. */
  moreUsd: number;
  /** The total. */
  spentUsd: number;
  isRunning: boolean;
}

/** The events after a run spent money: thresholds reached, a new reservation, and whether it must stop. */
export function afterSpending(slice: Slice, project: Project, spending: Spent, env: DecideEnv): EventBody[] {
  const { about, runId, moreUsd, spentUsd, isRunning } = spending;
  if (moreUsd === 0) return [];
  const budgets = budgetAccountsOf(slice, project, env.now).map((budget) => charged(budget, spending));
  const events = budgets.flatMap((budget) => thresholds(budget, moreUsd));
  const isUsedUp = budgets.some(({ account }) => (account.reserved[runId] ?? 0) <= CENT);
  const free = Math.min(...budgets.map(freeOf));
  const granted = isRunning && isUsedUp && free > CENT ? Math.min(free, portion(budgets)) : 0;
  for (const budget of budgets) events.push(...adjustReservations(budget, runId, granted));
  if (isRunning && isUsedUp && granted === 0) events.push({ type: 'run.overdrawn', ...about, runId, spentUsd });
  return events;
}

/** What a run gets when it has used up its reservation: small, so that other runs can continue. */
function portion(budgets: BudgetAccount[]): number {
  const smallest = Math.min(...budgets.map(({ limits }) => Math.min(limits.dailyUsd, limits.monthlyUsd)));
  return Math.max(UNKNOWN_REQUEST_USD, smallest * TOP_UP_PART);
}

/** The account after the run paid, first from its reservation. The rest of the reservation ends with the run. */
function charged({ account, limits }: BudgetAccount, { runId, moreUsd, isRunning }: Spent): BudgetAccount {
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

/** What is neither spent nor reserved; negative when more is reserved than is left. */
function freeOf({ account, limits }: BudgetAccount): number {
  const left = periodsOf(account, limits).map(({ spent, limit }) => limit - spent);
  return Math.min(...left) - reservedOf(account);
}

/**
 * Adds what was granted to the run's reservation. When the run has spent what was reserved for others, their reservations
 * shrink: spent and reserved together never exceed the limit.
 */
function adjustReservations(budget: BudgetAccount, runId: string, granted: number): EventBody[] {
  const { account } = budget;
  const reserved: Account['reserved'] = {};
  if (granted > 0) reserved[runId] = (account.reserved[runId] ?? 0) + granted;
  const promised = reservedOf(account);
  const missing = -freeOf(budget);
  if (missing > CENT && promised > 0) {
    const part = Math.max(0, 1 - missing / promised);
    for (const [id, usd] of Object.entries(account.reserved)) reserved[id] = usd * part;
  }
  return Object.keys(reserved).length > 0 ? [{ type: 'budget.reserved', accountId: account.id, reserved }] : [];
}

function thresholds({ account, limits }: BudgetAccount, moreUsd: number): EventBody[] {
  return periodsOf(account, limits).flatMap(({ period, spent, limit, reported }): EventBody[] => {
    // After a limit was raised, its thresholds can be reached again.
    const passed = Math.min(reported, passedAt(percentOf(spent - moreUsd, limit)) ?? 0);
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
    return refuse('bad_input', 'a project’s own budget is in its config file', 'set `budget` in that file');
  const known = slice.record('account', accountId)?.limits;
  const isSame =
    known?.dailyUsd === limits.dailyUsd && known.monthlyUsd === limits.monthlyUsd && known.timeZone === timeZone;
  return isSame ? accept() : accept({ type: 'budget.limited', accountId, limits, timeZone, by });
}

const usd = (amount: number) => `${amount.toFixed(2)} USD`;
