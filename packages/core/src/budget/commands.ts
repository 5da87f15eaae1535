import type { BudgetLimits } from '@tidemill/contract';
import type { CommandParts } from '../noun.ts';
import { limitBudget } from './budget.ts';

export interface BudgetCommands {
  'budget.limit': { accountId: string; limits: BudgetLimits; timeZone: string; by: string };
}

export const budgetCommands: CommandParts<keyof BudgetCommands> = {
  'budget.limit': { scope: (command) => [{ find: 'records', by: command.accountId }], decide: limitBudget },
};
