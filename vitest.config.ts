import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const globalSetup = 'test/support/global-setup.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/*.test.ts'],
    globalSetup: existsSync(new URL(globalSetup, import.meta.url)) ? [globalSetup] : [],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
