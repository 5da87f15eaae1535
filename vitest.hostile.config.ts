import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

const { projects: _, ...shared } = base.test!;

/** `npm run hostile`: what takes too long for every `npm test`. */
export default defineConfig({
  test: { ...shared, include: ['test/hostile/*.ts'], globalSetup: ['test/support/global-setup.ts'] },
});
