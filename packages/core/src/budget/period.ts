import type { Account, BudgetLimits, Project } from '@tidemill/contract';
import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import type { Slice } from '../slice.ts';
import type { Calendars } from './calendar.ts';

export type Limits = BudgetLimits & { timeZone: string };

const DEFAULT_LIMITS: Limits = { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' };
/**
 * The account as of today: a new day or month starts at zero. A clock that goes back by a day changes nothing, because
 * one that moves around midnight would reset twice. After a larger step back, only the dates are corrected.
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

export interface BudgetAccount {
  account: Account;
  limits: Limits;
}

/** The accounts that pay for a project's runs, as of now: its own and the one of all projects. */
export function budgetAccountsOf(slice: Slice, project: Project, now: number): BudgetAccount[] {
  return [project, null].map((owner) =>
    budgetAccountOf(owner, slice.record('account', accountId(owner?.id ?? ALL_PROJECTS)), now, slice.calendars),
  );
}

/** `project` is null for the account of all projects. */
export function budgetAccountOf(
  project: Project | null,
  stored: Account | undefined,
  now: number,
  calendars: Calendars,
): BudgetAccount {
  const limits = project ? project.rules.budget : (stored?.limits ?? DEFAULT_LIMITS);
  const account = stored ?? newAccount(project?.id ?? ALL_PROJECTS, limits, now, calendars);
  return { limits, account: rolled(account, limits, now, calendars) };
}

export function newAccount(owner: string, limits: Limits, now: number, calendars: Calendars): Account {
  const day = calendars.dayOf(now, limits.timeZone);
  return {
    noun: 'account',
    id: accountId(owner),
    projectId: owner,
    limits: owner === ALL_PROJECTS ? limits : null,
    day,
    month: day.slice(0, 7),
    spentDayUsd: 0,
    spentMonthUsd: 0,
    ...{ reserved: {}, told: { daily: 0, monthly: 0 }, estimates: {} },
  };
}
