import { describe } from 'vitest';
import { keepsToLimits } from '../../../../test/support/budget-suite.ts';

describe('budgets over 1,000 concurrent dispatches', () => {
  keepsToLimits({ stories: 4, dispatches: 1_000 });
});
