import type { Account, BudgetLimits, BudgetPeriod, Project } from '@tidemill/contract';
import { ALL_PROJECTS, accountId } from '@tidemill/contract';
import type { Slice } from '../slice.ts';

export type Limits = BudgetLimits & { timeZone: string };

const DEFAULT_LIMITS: Limits = { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' };
const QUARTER_HOUR = 15 * 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const recent = new Map<string, { quarter: number; day: string }>();

/** The calendar day in a time zone, as `2026-11-16`: days are as long as the zone's clocks make them. */
export function dayOf(now: number, timeZone: string): string {
  // Every zone's midnight is at a quarter of an hour, so a quarter lies in one day; and formatting is dear.
  const quarter = Math.floor(now / QUARTER_HOUR);
  const known = recent.get(timeZone);
  if (known?.quarter === quarter) return known.day;
  const day = formatOf(timeZone).format(now);
  recent.set(timeZone, { quarter, day });
  return day;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(timeZone, format);
  }
  return format;
}

const HOUR = 3_600_000;
const LONGEST = { daily: 26 * HOUR, monthly: 32 * 24 * HOUR } satisfies Record<BudgetPeriod, number>;

/** `2026-11-16` or `2026-11`. */
const nameOf = (period: BudgetPeriod, at: number, timeZone: string) =>
  period === 'daily' ? dayOf(at, timeZone) : dayOf(at, timeZone).slice(0, 7);

/** The last period asked for, by its kind and zone: the halving below takes some thirty formattings. */
const spans = new Map<string, { start: number; end: number }>();

/** The day or month around a moment. Its ends are found by halving, since no clock change is a multiple of anything. */
function spanOf(period: BudgetPeriod, now: number, timeZone: string): { start: number; end: number } {
  const key = `${period} ${timeZone}`;
  const known = spans.get(key);
  if (known && known.start <= now && now < known.end) return known;
  const current = nameOf(period, now, timeZone);
  const isWithin = (at: number) => nameOf(period, at, timeZone) === current;
  const span = {
    start: firstThat(isWithin, now - LONGEST[period], now),
    end: firstThat((at) => !isWithin(at), now, now + LONGEST[period]),
  };
  spans.set(key, span);
  return span;
}

/** The first moment after `before` for which it holds; from there on it holds up to `after`. */
function firstThat(holds: (at: number) => boolean, before: number, after: number): number {
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}

/** When the next day or month begins there. */
export const nextPeriodAt = (period: BudgetPeriod, now: number, timeZone: string) => spanOf(period, now, timeZone).end;

/** When the day or month began. */
export const periodStartAt = (period: BudgetPeriod, now: number, timeZone: string) =>
  spanOf(period, now, timeZone).start;

/**
 * The account in today's figures: a new day or month starts at zero. A clock that went back a day changes nothing, or
 * one that wavers at midnight would pay twice; one that had been far ahead keeps its figures and is put right.
 */
export function rolled(account: Account, limits: Limits, now: number): Account {
  const day = dayOf(now, limits.timeZone);
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

const daysBetween = (earlier: string, later: string) => (Date.parse(later) - Date.parse(earlier)) / (24 * HOUR);

export interface Purse {
  account: Account;
  limits: Limits;
}

/** What pays for a project's runs: its own account and the one of all projects, as of now. */
export function pursesOf(slice: Slice, project: Project, now: number): Purse[] {
  return [project, null].map((owner) =>
    purseOf(owner, slice.record('account', accountId(owner?.id ?? ALL_PROJECTS)), now),
  );
}

/** Of a project, or (null) of all. */
export function purseOf(project: Project | null, stored: Account | undefined, now: number): Purse {
  const limits = project ? project.rules.budget : (stored?.limits ?? DEFAULT_LIMITS);
  const account = stored ?? newAccount(project?.id ?? ALL_PROJECTS, limits, now);
  return { limits, account: rolled(account, limits, now) };
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
