import { keepsToLimits } from '../../../../test/support/budget-suite.ts';

keepsToLimits({ stories: 4, dispatches: 1_000 });
