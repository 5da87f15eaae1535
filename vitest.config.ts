import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './scripts/slow-first.ts';
import { TEST_PLACES, TIERS, type Tier } from './scripts/tiers.ts';

/**
 * One more than cores: a third of the time tests wait for processes, timers and pages. With two more, tests with a browser
 * reached their time limit. One with a browser may need 3 GB.
 */
const WORKERS = Math.max(2, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 3e9)));

const shared = {
  environment: 'node',
  // They end a test that hangs. A machine with much other work needs several times as long as a quiet one.
  testTimeout: 180_000,
  hookTimeout: 240_000,
  // The default is one second.
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks' as const,
  // A process with a small heap starts others sooner: the kernel copies its page tables each time, and tests start git often.
  execArgv: ['--max-semi-space-size=4', '--max-old-space-size=640'],
  maxWorkers: WORKERS,
};

/** The files of a tier in two projects. Those that share a process share nothing but modules, which take long to load. */
function projectsFor(tier: Tier) {
  const { ending, others } = TIERS[tier];
  const files = (paths: string[]) => paths.map((path) => `${path}${ending}`);
  const exclude = others.map((other) => `**/*${other}`);
  return [
    {
      test: {
        ...shared,
        name: tier,
        include: files(TEST_PLACES.together),
        exclude: [...exclude, ...files(TEST_PLACES.alone)],
        isolate: false,
      },
    },
    { test: { ...shared, name: `${tier}-alone`, include: files(TEST_PLACES.alone), exclude } },
  ];
}

export default defineConfig({
  test: {
    ...shared,
    sequence: { sequencer: SlowFirst },
    // Here and in no project, so that there is one of everything for all of them.
    globalSetup: ['test/support/global-setup.ts'],
    projects: [...projectsFor('quick'), ...projectsFor('long'), ...projectsFor('soak')],
  },
});
