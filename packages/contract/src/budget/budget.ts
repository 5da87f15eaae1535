import { z } from 'zod';
import { recordKind } from '../record/kind.ts';

const usd = z.number().positive('a budget is more than 0 USD').max(1_000_000, 'a budget is at most 1,000,000 USD');

export const BudgetLimits = z.strictObject({
  dailyUsd: usd.default(50),
  monthlyUsd: usd.default(500),
});
export type BudgetLimits = z.infer<typeof BudgetLimits>;

export const BudgetPeriod = z.enum(['daily', 'monthly']);
export type BudgetPeriod = z.infer<typeof BudgetPeriod>;
/** Percentages of a limit: notice, warning, no new claims, everything stops. */
export const BudgetThreshold = z.union([z.literal(50), z.literal(75), z.literal(90), z.literal(100)]);
export type BudgetThreshold = z.infer<typeof BudgetThreshold>;

/** Everything spent and reserved, of one project (id `account/<projectId>`) or of all (`account/all`). */
export const Account = z.object({
  noun: z.literal('account'),
  id: z.string(),
  projectId: z.string(),
  /** Null for a project's account: its limits are in the project's rules. */
  limits: BudgetLimits.extend({ timeZone: z.string() }).nullable(),
  /** `2026-11-16` and `2026-11` in the time zone: what `spent…` counts. */
  day: z.string(),
  month: z.string(),
  spentDayUsd: z.number(),
  spentMonthUsd: z.number(),
  /** What running runs may still spend, by run. */
  reserved: z.record(z.string(), z.number()),
  /** The highest threshold already reported, by period. */
  told: z.object({ daily: z.number(), monthly: z.number() }),
  /** What a run has cost so far, by `agent/mode/size`. */
  estimates: z.record(z.string(), z.object({ runs: z.number().int(), meanUsd: z.number() })),
});
export type Account = z.infer<typeof Account>;
export const accountKind = recordKind(Account, ({ projectId }) => ({ parent: projectId, isOpen: false, dueAt: null }));
export const ALL_PROJECTS = 'all';
export const accountId = (projectId: string) => `account/${projectId}`;

export const AccountView = z.object({
  /** `all` for the account of all projects. */
  projectId: z.string(),
  name: z.string(),
  limits: BudgetLimits,
  timeZone: z.string(),
  daily: z.object({ spentUsd: z.number(), reservedUsd: z.number(), percent: z.number(), forecastUsd: z.number() }),
  monthly: z.object({ spentUsd: z.number(), reservedUsd: z.number(), percent: z.number(), forecastUsd: z.number() }),
  /** Why no new work starts; null when it may. */
  stopped: z.string().nullable(),
});
export type AccountView = z.infer<typeof AccountView>;
