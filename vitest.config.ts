import { defineConfig } from 'vitest/config';
import { SlowFirst } from './scripts/slow-first.ts';

/** These change the environment of their process or look at all that it started: a process each. */
const ALONE = ['packages/daemon/src/{process,hooks}/**/*.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'beside the code',
          include: ['packages/*/src/**/*.test.ts'],
          exclude: ALONE,
          // They share nothing but modules, and loading those takes longer than most of them.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...ALONE, 'test/**/*.test.ts', 'scripts/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
});
