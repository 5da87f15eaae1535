import type { Actor, BudgetLimits } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { limitBudget } from './budget.ts';

export interface BudgetCommands {
  'budget.limit': { accountId: string; limits: BudgetLimits; timeZone: string; by: Actor };
}

export const budgetCommands: CommandParts<keyof BudgetCommands> = {
  'budget.limit': { scope: (command) => [look('record', command.accountId)], decide: limitBudget },
};
