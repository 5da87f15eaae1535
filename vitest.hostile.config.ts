import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run hostile`: what takes too long for every `npm test`. */
export default mergeConfig(base, defineConfig({ test: { include: ['test/hostile/*.ts'] } }));
