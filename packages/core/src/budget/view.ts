import { type Account, type AccountView, ALL_PROJECTS, type Project, sumUsd } from '@tidemill/contract';
import { exhaustedPeriod, howToRaise, percentOf, periodsOf, reservedOf, shortageFor } from './budget.ts';
import type { Calendars } from './calendar.ts';
import { type Purse, purseOf } from './period.ts';

/** A forecast from less than this would say more about the first run than about the day. */
const SHORTEST_RECORD_MS = 3_600_000;

/** As a person wants to see it. `project` is null for the account of all projects. */
export function viewAccount(
  project: Project | null,
  stored: Account | null,
  now: number,
  calendars: Calendars,
): AccountView {
  const purse = purseOf(project, stored ?? undefined, now, calendars);
  const { account, limits } = purse;
  const { timeZone, ...amounts } = limits;
  const [daily, monthly] = periodsOf(account, limits).map(({ period, spent, limit }) => ({
    spentUsd: spent,
    reservedUsd: reservedOf(account),
    percent: percentOf(spent, limit),
    forecastUsd: forecast(spent, now, {
      start: calendars.periodStartAt(period, now, timeZone),
      end: calendars.nextPeriodAt(period, now, timeZone),
    }),
  }));
  return {
    projectId: account.projectId,
    name: project?.name ?? ALL_PROJECTS,
    ...{ limits: amounts, timeZone },
    ...{ daily: daily!, monthly: monthly! },
    stopped: stoppedBecause(purse, now, calendars),
  };
}

/** What will have been spent by the period's end when it goes on as it went so far. */
function forecast(spentUsd: number, now: number, { start, end }: { start: number; end: number }): number {
  const passed = Math.max(now - start, SHORTEST_RECORD_MS);
  return sumUsd(spentUsd, (spentUsd / passed) * Math.max(0, end - now));
}

function stoppedBecause(purse: Purse, now: number, calendars: Calendars): string | null {
  const exhausted = exhaustedPeriod([purse])?.text;
  const shortage = shortageFor([purse], 0, now, calendars);
  if (!shortage) return null;
  const until = new Date(shortage.until).toISOString();
  return `${exhausted ?? shortage.text} It goes on by itself at ${until}, or ${howToRaise(purse.account.id)}.`;
}
