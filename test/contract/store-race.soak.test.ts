import { describe } from 'vitest';
import { severalProcesses } from './store-race-suite.ts';

describe('a store that several processes use at once', () => {
  severalProcesses({
    tasks: { sqlite: 5000, postgres: 20_000 },
    claims: 200,
    writes: 1000,
    dependencies: 50,
    // 200 kills, after one write up to 300.
    kills: Array.from({ length: 200 }, (_, index) => 1 + ((index * 37) % 300)),
  });
});
