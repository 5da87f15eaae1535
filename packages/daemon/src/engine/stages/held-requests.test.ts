import { expect, it } from 'vitest';
import { HeldRequests } from './held-requests.ts';

const unpriced = (requests: number) => ({ inputTokens: 0, outputTokens: 0, costUsd: null, requests });

it('requests without a price beyond the reservation and one more wait until there is room', () => {
  const held = new HeldRequests();
  expect(held.admit(unpriced(172), 0, 2).report.requests).toBe(5);
  expect(held.admit(unpriced(10), 0, -0.5).report.requests).toBe(0);
  expect(held.release(-0.5)).toBeNull();
  expect(held.release(0)).toMatchObject({ requests: 1, costUsd: null });
  expect(held.release(1_000)).toMatchObject({ requests: 172 + 10 - 5 - 1 });
  expect(held.release(1_000)).toBeNull();
});

it('a price that is reported later settles requests that wait first', () => {
  const held = new HeldRequests();
  held.admit(unpriced(3), 0, 0.1);
  const priced = { ...unpriced(0), costUsd: 0.02 };
  expect(held.admit(priced, 3, -0.4)).toEqual({ report: priced, settled: 1 });
  expect(held.release(1)).toBeNull();
});
