import { expect, it } from 'vitest';
import { crashEverywhere } from './crashes.ts';

it('survives a crash at every ninth write of a story that changes something, in turn before and after it takes effect', async () => {
  const { landed, broken } = await crashEverywhere((index) => (index % 9 === 0 ? [index % 2 === 0] : []));
  expect(landed).toBeGreaterThanOrEqual(3);
  expect(broken).toBeNull();
}, 600_000);
