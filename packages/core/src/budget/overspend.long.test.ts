import { keepsToLimits } from '../../../../test/support/budget-suite.ts';

keepsToLimits({ stories: 10, dispatches: 10_000 });
