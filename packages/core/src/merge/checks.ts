import type { PullRequestConfig } from '@tidemill/contract';

/** Names of the results that Tidemill itself publishes. */
export const OWN_CHECKS = 'tidemill/';

interface Result {
  name: string;
  state: 'pending' | 'passed' | 'failed';
}

export type CheckVerdict<R extends Result> =
  | { kind: 'passed'; names: string[] }
  | { kind: 'failed'; results: R[] }
  /** `missing`: required, and nothing reported it yet. */
  | { kind: 'pending'; names: string[]; missing: string[] }
  /** Nothing is required and nothing was reported. That is not a pass. */
  | { kind: 'none' };

/**
 * What the checks of a pushed commit say. Those that are required count; if none is, all that were reported. A result
 * that Tidemill published itself proves nothing here.
 */
export function judgeChecks<R extends Result>(
  { required, results }: { required: string[]; results: R[] },
  { checks }: Pick<PullRequestConfig, 'checks'>,
): CheckVerdict<R> {
  const wanted = [...new Set([...required, ...checks])];
  const isOwn = ({ name }: Result) => name.startsWith(OWN_CHECKS);
  const counted = results.filter((one) => (wanted.length > 0 ? wanted.includes(one.name) : !isOwn(one)));
  const failed = counted.filter(({ state }) => state === 'failed');
  if (failed.length > 0) return { kind: 'failed', results: failed };
  const missing = wanted.filter((name) => !results.some((one) => one.name === name));
  const pending = counted.filter(({ state }) => state === 'pending').map(({ name }) => name);
  if (missing.length + pending.length > 0) return { kind: 'pending', names: [...pending, ...missing], missing };
  if (counted.length === 0 || counted.every(isOwn)) return { kind: 'none' };
  return { kind: 'passed', names: counted.map(({ name }) => name) };
}

/** A forge that merges by itself waits for what it requires and for nothing else, so the rest must be there before. */
export const forgeWaitsFor = (verdict: CheckVerdict<Result>, required: string[]): boolean =>
  verdict.kind === 'pending' && verdict.names.every((name) => required.includes(name));
