import { describe } from 'vitest';
import { keepsInvariants } from './sim-suite.ts';

describe('simulation', () => {
  keepsInvariants(1000);
});
