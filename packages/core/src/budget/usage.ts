import {
  type FailureClass,
  MAX_COUNT,
  MAX_USD,
  type Run,
  sumUsd,
  UNKNOWN_REQUEST_USD,
  type Usage,
} from '@tidemill/contract';

/** Failures before the vendor did anything that costs money. */
const UNPAID: readonly FailureClass[] = ['spawn', 'auth', 'credit', 'rate_limit', 'overloaded', 'network'];

/** The usage as numbers that can be summed and stored. What is not a number keeps its previous value. */
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
 * The usage with at most this much more for requests without a price. Their price is assumed, and an agent can report any number of
 * them at once.
 */
export function withinReserve(usage: Usage, before: Usage, mostUsd: number): Usage {
  const excess = sumUsd(sumUsd(usage.assumedUsd ?? 0, -(before.assumedUsd ?? 0)), -mostUsd);
  if (excess <= 0 || usage.costUsd === null) return usage;
  const least = Math.min(before.costUsd ?? 0, usage.costUsd);
  return {
    ...usage,
    costUsd: Math.max(least, sumUsd(usage.costUsd, -excess)),
    assumedUsd: sumUsd(usage.assumedUsd ?? 0, -excess),
  };
}

/**
 * A run's final usage. An agent that started and reported no request is charged for one of unknown price, unless it is
 * declared free, its vendor refused to work, or it crashed before it made a turn.
 */
export function finalUsage(run: Run, usage: Usage, failure: FailureClass | null): Usage {
  const isSilent = usage.requests === 0 && usage.costUsd === null;
  const isStarted = run.briefing !== null;
  if (!isSilent || !isStarted || run.isFree || (failure !== null && UNPAID.includes(failure))) return usage;
  if (failure === 'crash' && !run.progress?.turns?.used && !run.progress?.tools) return usage;
  return { ...usage, requests: 1, costUsd: UNKNOWN_REQUEST_USD, assumedUsd: UNKNOWN_REQUEST_USD };
}

/** What to book in addition. A price that turns out lower than assumed is not refunded. */
export const moreUsd = (before: Usage, after: Usage) => Math.max(0, sumUsd(after.costUsd ?? 0, -(before.costUsd ?? 0)));
