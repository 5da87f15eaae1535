import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run hostile`: what takes too long for every `npm test`. */
export default defineConfig({ test: { ...base.test, include: ['test/hostile/*.ts'] } });
