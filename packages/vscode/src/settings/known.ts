import { BudgetLimits, CATEGORIES, MAX_WORKERS } from '@tidemill/contract';
import type { KnownLimits } from './wanted.ts';

// A module of its own: a dynamic import of the whole contract would bundle all of it.

export const KNOWN: KnownLimits = { maxWorkers: MAX_WORKERS, categories: CATEGORIES, ...BudgetLimits.parse({}) };
