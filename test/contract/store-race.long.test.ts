import { describe } from 'vitest';
import { severalProcesses } from './store-race-suite.ts';

describe('a store that several processes use at once', () => {
  // Together more than 10,000 rounds.
  severalProcesses({
    tasks: { sqlite: 1000, postgres: 10_000 },
    claims: 50,
    writes: 100,
    dependencies: 10,
    kills: [1, 100, 300, 50],
  });
});
