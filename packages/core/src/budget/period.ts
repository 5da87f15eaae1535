import type { Account, BudgetLimits, Project } from '@tidemill/contract';
import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import type { Slice } from '../slice.ts';

export type Limits = BudgetLimits & { timeZone: string };

const DEFAULT_LIMITS: Limits = { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' };
const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day in a time zone, as `2026-11-16`: days are as long as the zone's clocks make them. */
export function dayOf(now: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(timeZone, format);
  }
  return format.format(now);
}

/** When the next day begins there: found by halving, since no clock change is a multiple of anything. */
export function nextDayAt(now: number, timeZone: string): number {
  const today = dayOf(now, timeZone);
  let before = now;
  let after = now + 26 * 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle, timeZone) === today) before = middle;
    else after = middle;
  }
  return after;
}

/** The account in today's figures: a new day or month starts at zero. A clock that went back changes nothing. */
export function rolled(account: Account, limits: Limits, now: number): Account {
  const day = dayOf(now, limits.timeZone);
  const month = day.slice(0, 7);
  if (day <= account.day) return account;
  const isNewMonth = month > account.month;
  return {
    ...account,
    day,
    month: isNewMonth ? month : account.month,
    spentDayUsd: 0,
    spentMonthUsd: isNewMonth ? 0 : account.spentMonthUsd,
    told: { daily: 0, monthly: isNewMonth ? 0 : account.told.monthly },
  };
}

export interface Purse {
  account: Account;
  limits: Limits;
}

/** What pays for a project's runs: its own account and the one of all projects, as of now. */
export function pursesOf(slice: Slice, project: Project, now: number): Purse[] {
  return [project.id, ALL_PROJECTS].map((owner) => {
    const stored = slice.record('account', accountId(owner));
    const limits = owner === ALL_PROJECTS ? (stored?.limits ?? DEFAULT_LIMITS) : project.rules.budget;
    return { limits, account: rolled(stored ?? newAccount(owner, limits, now), limits, now) };
  });
}

export function newAccount(owner: string, limits: Limits, now: number): Account {
  const day = dayOf(now, limits.timeZone);
  return {
    ...{ noun: 'account', id: accountId(owner), projectId: owner },
    limits: owner === ALL_PROJECTS ? limits : null,
    ...{ day, month: day.slice(0, 7), spentDayUsd: 0, spentMonthUsd: 0 },
    ...{ reserved: {}, told: { daily: 0, monthly: 0 }, estimates: {} },
  };
}
