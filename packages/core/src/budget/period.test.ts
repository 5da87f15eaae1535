import type { Account } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Calendars } from './calendar.ts';
import { newAccount, rolled } from './period.ts';

const calendars = new Calendars();

const at = (text: string) => Date.parse(text);
const HOUR = 3_600_000;

describe('a budget period', () => {
  test.each([
    ['Europe/Berlin, an ordinary day', 'Europe/Berlin', '2026-11-16T10:00:00Z', '2026-11-16T23:00:00Z', 24],
    ['Europe/Berlin, clocks go forward', 'Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T22:00:00Z', 23],
    ['Europe/Berlin, clocks go back', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-25T23:00:00Z', 25],
    ['America/New_York, clocks go forward', 'America/New_York', '2026-03-08T20:00:00Z', '2026-03-09T04:00:00Z', 23],
    ['America/New_York, clocks go back', 'America/New_York', '2026-11-01T05:30:00Z', '2026-11-02T05:00:00Z', 25],
    [
      'Africa/Cairo, where midnight itself is skipped',
      'Africa/Cairo',
      '2026-04-23T12:00:00Z',
      '2026-04-23T22:00:00Z',
      24,
    ],
    ['Africa/Cairo, the day that begins at one', 'Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-24T21:00:00Z', 23],
  ])('ends at local midnight: %s', (_name, zone, now, end, hours) => {
    expect(new Date(calendars.nextPeriodAt('daily', at(now), zone)).toISOString()).toBe(
      new Date(at(end)).toISOString(),
    );
    expect(
      (calendars.nextPeriodAt('daily', at(now), zone) - calendars.periodStartAt('daily', at(now), zone)) / HOUR,
    ).toBe(hours);
    expect(calendars.dayOf(at(end) - 1, zone)).not.toBe(calendars.dayOf(at(end), zone));
  });

  test('of a month ends at local midnight, also at the end of the year', () => {
    expect(new Date(calendars.nextPeriodAt('monthly', at('2026-12-05T00:00:00Z'), 'Europe/Berlin')).toISOString()).toBe(
      '2026-12-31T23:00:00.000Z',
    );
    expect(
      new Date(calendars.periodStartAt('monthly', at('2026-12-05T00:00:00Z'), 'Europe/Berlin')).toISOString(),
    ).toBe('2026-11-30T23:00:00.000Z');
  });
});

describe('an account over time', () => {
  const limits = { dailyUsd: 10, monthlyUsd: 100, timeZone: 'Europe/Berlin' };
  const account = (now: string): Account => ({
    ...newAccount('p', limits, at(now), calendars),
    ...{ spentDayUsd: 7, spentMonthUsd: 40, reserved: { run_1: 2 }, told: { daily: 50, monthly: 0 } },
  });
  const later = (now: string, then: string) => rolled(account(now), limits, at(then), calendars);

  test('stays the same within a day, up to its last millisecond', () => {
    expect(later('2026-11-16T08:00:00Z', '2026-11-16T22:59:59.999Z').spentDayUsd).toBe(7);
  });
  test('midnight begins a day at zero, keeps the month, and keeps reservations of running work', () => {
    const next = later('2026-11-16T08:00:00Z', '2026-11-16T23:00:00Z');
    expect(next).toMatchObject({ day: '2026-11-17', spentDayUsd: 0, spentMonthUsd: 40, reserved: { run_1: 2 } });
    expect(next.told).toEqual({ daily: 0, monthly: 0 });
  });
  test('a new month begins at zero', () => {
    const next = later('2026-11-30T12:00:00Z', '2026-11-30T23:00:00Z');
    expect(next).toMatchObject({ day: '2026-12-01', month: '2026-12', spentDayUsd: 0, spentMonthUsd: 0 });
  });
  test('a clock that jumps a day forward and back gives no second budget', () => {
    const ahead = later('2026-11-16T12:00:00Z', '2026-11-17T12:00:00Z');
    const spent = { ...ahead, spentDayUsd: 10 };
    expect(rolled(spent, limits, at('2026-11-16T12:00:00Z'), calendars)).toEqual(spent);
    expect(rolled(spent, limits, at('2026-11-17T13:00:00Z'), calendars).spentDayUsd).toBe(10);
    expect(rolled(spent, limits, at('2026-11-18T13:00:00Z'), calendars).spentDayUsd).toBe(0);
  });
  test('a clock that had been years ahead is corrected, and the spending is kept', () => {
    const back = rolled(account('2036-01-01T12:00:00Z'), limits, at('2026-11-16T12:00:00Z'), calendars);
    expect(back).toMatchObject({ day: '2026-11-16', month: '2026-11', spentDayUsd: 7, spentMonthUsd: 40 });
    expect(rolled(back, limits, at('2026-11-17T12:00:00Z'), calendars).spentDayUsd).toBe(0);
  });
});
