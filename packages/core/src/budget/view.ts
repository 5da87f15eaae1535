import { type Account, type AccountView, ALL_PROJECTS, type Project, sumUsd } from '@tidemill/contract';
import { exhaustedPeriod, howToRaise, percentOf, periodsOf, reservedOf, shortageFor } from './budget.ts';
import type { Calendars } from './calendar.ts';
import { type BudgetAccount, budgetAccountOf } from './period.ts';

/** A forecast from a shorter time would only reflect the first run. */
const SHORTEST_RECORD_MS = 3_600_000;

/** The account as surfaces show it. `project` is null for the account of all projects. */
export function viewAccount(
  project: Project | null,
  stored: Account | null,
  now: number,
  calendars: Calendars,
): AccountView {
  const budget = budgetAccountOf(project, stored ?? undefined, now, calendars);
  const { account, limits } = budget;
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
    limits: amounts,
    timeZone,
    daily: daily!,
    monthly: monthly!,
    stopped: stoppedBecause(budget, now, calendars),
  };
}

/** The spending at the period's end, if the rate so far continues. */
function forecast(spentUsd: number, now: number, { start, end }: { start: number; end: number }): number {
  const passed = Math.max(now - start, SHORTEST_RECORD_MS);
  return sumUsd(spentUsd, (spentUsd / passed) * Math.max(0, end - now));
}

function stoppedBecause(budget: BudgetAccount, now: number, calendars: Calendars): string | null {
  const exhausted = exhaustedPeriod([budget])?.text;
  const shortage = shortageFor([budget], 0, now, calendars);
  if (!shortage) return null;
  const until = new Date(shortage.until).toISOString();
  return `${exhausted ?? shortage.text} Work continues by itself at ${until}, or ${howToRaise(budget.account.id)}.`;
}
