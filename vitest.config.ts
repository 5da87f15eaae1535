import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './scripts/slow-first.ts';

/**
 * One more than cores: a third of the time tests wait for processes, timers and pages. With two more, tests with a browser
 * reached their time limit. One with a browser may need 3 GB.
 */
const WORKERS = Math.max(2, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 3e9)));

const shared = {
  environment: 'node',
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // The default is one second.
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks',
  maxWorkers: WORKERS,
} as const;

/** These change the environment of their process, or look at all that it has started. */
const ALONE = [
  'packages/daemon/src/{process,hooks}/**/*.test.ts',
  'test/contract/{agent,guard}*.test.ts',
  'test/e2e/hostile/sandbox-escapes.test.ts',
];

export default defineConfig({
  test: {
    ...shared,
    sequence: { sequencer: SlowFirst },
    // Here and in no project, so that there is one of everything for all of them.
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        test: {
          ...shared,
          name: 'together',
          include: ['packages/*/src/**/*.test.ts', 'test/{contract,e2e}/**/*.test.ts'],
          exclude: ALONE,
          // They share nothing but modules, and loading those takes longer than many of them.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: [...ALONE, 'test/sim/*.test.ts', 'scripts/*.test.ts'],
        },
      },
    ],
  },
});
