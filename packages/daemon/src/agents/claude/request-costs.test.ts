import type { Usage } from '@tidemill/contract';
import { expect, it } from 'vitest';
import { readMessage } from './messages.ts';
import { RequestCosts } from './request-costs.ts';

const NO_PRICES = { costUsd: () => null, isOwn: () => false };
const totals = (inputTokens: number, costUSD: number) => ({
  m: { inputTokens, outputTokens: inputTokens / 10, costUSD },
});

/** A result of an older program, with totals only. */
function result(modelUsage: object, more: object = {}) {
  const message = readMessage({ type: 'result', subtype: 'success', is_error: false, modelUsage, ...more });
  if (message?.type !== 'result') throw new Error('not a result');
  return message;
}

function booked(isResumed: boolean) {
  const told: Usage[] = [];
  return { told, costs: new RequestCosts(NO_PRICES, isResumed, (usage) => told.push(usage)) };
}

it('the cost of a request is the difference of totals that grow from turn to turn', () => {
  const { told, costs } = booked(false);
  costs.settle(result(totals(1000, 0.5)));
  costs.settle(result(totals(1500, 0.75)));
  costs.settle(result(totals(100, 0.1))); // restarted
  expect(told.map(({ inputTokens, costUsd }) => [inputTokens, costUsd])).toEqual([
    [1000, 0.5],
    [500, 0.25],
    [100, 0.1],
  ]);
});

it('the cost of a request includes nothing of a resumed session’s past, known or not', () => {
  const { told, costs } = booked(true);
  costs.settle(result(totals(9000, 4)));
  expect(told).toEqual([]);
  costs.settle(result(totals(9100, 4.5)));
  costs.settle(result(totals(9200, 5), { model_usage_since_last_result: totals(70, 0.2) }));
  expect(told).toMatchObject([
    { inputTokens: 100, costUsd: 0.5 },
    { inputTokens: 70, costUsd: 0.2 },
  ]);
});
