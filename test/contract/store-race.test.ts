import { describe } from 'vitest';
import { severalProcesses } from './store-race-suite.ts';

describe('a store that several processes use at once', () => {
  severalProcesses({
    // On Postgres both processes must get some of them.
    tasks: { sqlite: 150, postgres: 600 },
    claims: 5,
    writes: 50,
    dependencies: 2,
    kills: [60],
  });
});
