import type { Account, BudgetLimits, Project } from '@tidemill/contract';
import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import type { Slice } from '../slice.ts';
import type { Calendars } from './calendar.ts';

export type Limits = BudgetLimits & { timeZone: string };

const DEFAULT_LIMITS: Limits = { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' };
/**
 * The account in today's figures: a new day or month starts at zero. A clock that went back a day changes nothing, or
 * one that wavers at midnight would pay twice; one that had been far ahead keeps its figures and is put right.
 */
export function rolled(account: Account, limits: Limits, now: number, calendars: Calendars): Account {
  const day = calendars.dayOf(now, limits.timeZone);
  const month = day.slice(0, 7);
  if (day === account.day) return account;
  if (day < account.day) return daysBetween(day, account.day) > 1 ? { ...account, day, month } : account;
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

const daysBetween = (earlier: string, later: string) => (Date.parse(later) - Date.parse(earlier)) / 86_400_000;

export interface Purse {
  account: Account;
  limits: Limits;
}

/** What pays for a project's runs: its own account and the one of all projects, as of now. */
export function pursesOf(slice: Slice, project: Project, now: number): Purse[] {
  return [project, null].map((owner) =>
    purseOf(owner, slice.record('account', accountId(owner?.id ?? ALL_PROJECTS)), now, slice.calendars),
  );
}

/** Of a project, or (null) of all. */
export function purseOf(
  project: Project | null,
  stored: Account | undefined,
  now: number,
  calendars: Calendars,
): Purse {
  const limits = project ? project.rules.budget : (stored?.limits ?? DEFAULT_LIMITS);
  const account = stored ?? newAccount(project?.id ?? ALL_PROJECTS, limits, now, calendars);
  return { limits, account: rolled(account, limits, now, calendars) };
}

export function newAccount(owner: string, limits: Limits, now: number, calendars: Calendars): Account {
  const day = calendars.dayOf(now, limits.timeZone);
  return {
    ...{ noun: 'account', id: accountId(owner), projectId: owner },
    limits: owner === ALL_PROJECTS ? limits : null,
    ...{ day, month: day.slice(0, 7), spentDayUsd: 0, spentMonthUsd: 0 },
    ...{ reserved: {}, told: { daily: 0, monthly: 0 }, estimates: {} },
  };
}
