import { expect, it } from 'vitest';
import { classify, retryAtIn } from './failure.ts';

const NOW = Date.parse('2026-11-15T22:00:00');

it.each([
  ['Please try again in 11.054s.', NOW + 11_054],
  ['Please try again in 1h2m3s.', NOW + 3_723_000],
  ['Try again in 2 days 3 hours.', NOW + 2 * 86_400_000 + 3 * 3_600_000],
  ['Please try again in 250ms.', NOW + 250],
  ['or try again at Nov 16th, 2026 12:46 AM.', Date.parse('2026-11-16T00:46:00')],
  ['or try again at 11:30 PM.', Date.parse('2026-11-15T23:30:00')],
  ['or try again at 7:05 AM.', Date.parse('2026-11-16T07:05:00')],
  ['exceeded retry limit, last status: 429 Too Many Requests', undefined],
])('the retry time that Codex reports is read from "%s"', (message, at) => {
  expect(retryAtIn(message, NOW)).toBe(at);
});

it.each([
  ['unexpected status 401 Unauthorized: Incorrect API key provided', 'auth'],
  ['Not logged in. Run `codex login`.', 'auth'],
  ['Quota exceeded. Check your plan and billing details.', 'credit'],
  ['You’ve hit your usage limit. Purchase more credits or try again at Nov 16th, 2026 12:46 AM.', 'rate_limit'],
  ['You’ve hit your usage limit. To get more access now, send a request to your admin', 'credit'],
  ['exceeded retry limit, last status: 429 Too Many Requests', 'rate_limit'],
  ['We’re currently experiencing high demand, which may cause temporary errors.', 'overloaded'],
  ['Selected model is at capacity. Please try a different model.', 'overloaded'],
  ['stream disconnected before completion: error sending request', 'network'],
  ["Codex ran out of room in the model's context window.", 'context_too_long'],
  ['The requested model does not exist', null],
])('a failure of Codex is classified by its words "%s"', (message, failure) => {
  expect(classify(message)).toBe(failure);
});
