import {
  type FailureClass,
  MAX_COUNT,
  MAX_USD,
  type Run,
  sumUsd,
  UNKNOWN_REQUEST_USD,
  type Usage,
} from '@tidemill/contract';

/** Failures before a vendor has done anything that it would be paid for. */
const UNPAID: readonly FailureClass[] = ['spawn', 'auth', 'credit', 'rate_limit', 'overloaded', 'network'];

/** The usage in numbers that can be added up and stored, whoever made them. What is no number counts as before. */
export function bounded(usage: Usage, before: Usage): Usage {
  const within = (value: number, known: number, most: number) => (value >= 0 ? Math.min(value, most) : known);
  return {
    inputTokens: within(usage.inputTokens, before.inputTokens, MAX_COUNT),
    outputTokens: within(usage.outputTokens, before.outputTokens, MAX_COUNT),
    requests: within(usage.requests, before.requests, MAX_COUNT),
    costUsd: usage.costUsd === null ? null : within(usage.costUsd, before.costUsd ?? 0, MAX_USD),
    ...(usage.assumedUsd === undefined
      ? {}
      : { assumedUsd: within(usage.assumedUsd, before.assumedUsd ?? 0, MAX_USD) }),
  };
}

/**
 * What a run has used in the end. An agent that was started and told of no request has made one all the same, at an
 * unknown price, unless it is declared free or its vendor refused to work.
 */
export function inTheEnd(run: Run, usage: Usage, failure: FailureClass | null): Usage {
  const isSilent = usage.requests === 0 && usage.costUsd === null;
  const isStarted = run.briefing !== null;
  if (!isSilent || !isStarted || run.isFree || (failure !== null && UNPAID.includes(failure))) return usage;
  return { ...usage, requests: 1, costUsd: UNKNOWN_REQUEST_USD, assumedUsd: UNKNOWN_REQUEST_USD };
}

/** What is to be booked on top of what is. A price that turns out lower than it was assumed to be is not paid back. */
export const moreUsd = (before: Usage, after: Usage) => Math.max(0, sumUsd(after.costUsd ?? 0, -(before.costUsd ?? 0)));
