import { BudgetLimits, CATEGORIES, MAX_WORKERS } from '@tidemill/contract';
import type { KnownLimits } from './wanted.ts';

export const KNOWN: KnownLimits = { maxWorkers: MAX_WORKERS, categories: CATEGORIES, ...BudgetLimits.parse({}) };
