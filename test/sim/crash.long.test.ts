import { expect, it } from 'vitest';
import { crashEverywhere } from './crashes.ts';

it('the engine survives a crash at every write of a story, in turn before and after it takes effect', async () => {
  const { landed, broken } = await crashEverywhere((index) => [index % 2 === 0]);
  expect(landed).toBeGreaterThanOrEqual(3);
  expect(broken).toBeNull();
}, 600_000);
