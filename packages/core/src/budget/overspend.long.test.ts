import { describe } from 'vitest';
import { keepsToLimits } from '../../../../test/support/budget-suite.ts';

describe('budgets over 10,000 concurrent dispatches', () => {
  keepsToLimits({ stories: 10, dispatches: 10_000 });
});
