import { describe } from 'vitest';
import { findsPlantedBugs, keepsInvariants } from './sim-suite.ts';

describe('simulation', () => {
  keepsInvariants(60, 7);
  findsPlantedBugs(() => 1);
});
