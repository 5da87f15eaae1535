import { expect, it } from 'vitest';
import { crashEverywhere } from './crashes.ts';

it('survives a crash before and after every write of a story that changes something', async () => {
  const { crashes, broken } = await crashEverywhere(() => [false, true]);
  expect(broken).toBeNull();
  expect(crashes).toBeGreaterThan(300);
}, 3_600_000);
