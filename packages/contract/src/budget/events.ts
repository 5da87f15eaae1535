import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said, usd } from '../event/define.ts';
import { MAX_USD, storedNumber } from '../run/run.ts';
import { BudgetLimits, BudgetPeriod, BudgetThreshold } from './budget.ts';

export const budgetEvents = [
  event(
    'budget.limited',
    { accountId: z.string(), limits: BudgetLimits, timeZone: z.string(), by: Actor },
    {
      stale: ['budget'],
      says: ({ by, limits }) =>
        said(by, `set the budget of all projects to ${usd(limits.dailyUsd)} a day, ${usd(limits.monthlyUsd)} a month`),
    },
  ),
  event(
    'budget.threshold_reached',
    {
      accountId: z.string(),
      period: BudgetPeriod,
      threshold: BudgetThreshold,
      spentUsd: storedNumber(MAX_USD),
      limitUsd: z.number(),
    },
    {
      stale: ['budget'],
      says: ({ threshold, period, spentUsd, limitUsd }) =>
        mill(`${threshold} % of the ${period} budget: ${usd(spentUsd)} of ${usd(limitUsd)}`),
    },
  ),
  /** What running runs may still spend of an account, by run. */
  event(
    'budget.reserved',
    { accountId: z.string(), reserved: z.record(z.string(), z.number()) },
    {
      stale: ['budget'],
      says: ({ reserved }) => mill(`reserved: ${Object.values(reserved).map(usd).join(', ') || 'nothing'}`),
    },
  ),
] as const;
