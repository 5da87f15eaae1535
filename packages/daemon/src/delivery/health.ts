import { setTimeout as delay } from 'node:timers/promises';
import type { HealthCheck } from '@tidemill/contract';
import type { StepEnd } from '../ports.ts';

interface Trying {
  /** One try: null when it passed, else why not. */
  once(signal: AbortSignal): Promise<string | null>;
  say(line: string): Promise<void>;
  signal: AbortSignal;
}

/** Tries until the first success. An environment may need a while to start. */
export async function tryHealth({ tries, interval }: HealthCheck, { once, say, signal }: Trying): Promise<StepEnd> {
  let why = '';
  for (let number = 1; number <= tries; number += 1) {
    if (signal.aborted) return { result: 'stopped', note: 'the check was stopped' };
    const failed = await once(signal);
    if (signal.aborted) return { result: 'stopped', note: 'the check was stopped' };
    if (failed === null) return { result: 'passed', note: `passed at try ${number} of ${tries}` };
    why = failed;
    await say(`try ${number} of ${tries}: ${failed}`);
    // Aborted: the loop ends.
    if (number < tries) await delay(interval, undefined, { signal }).catch(() => undefined);
  }
  return { result: 'failed', note: `the health check failed ${tries === 1 ? 'once' : `${tries} times`}: ${why}` };
}

/** Asks the address once. A redirect is an answer, not followed. */
export async function askUrl(
  url: string,
  { status, timeout }: HealthCheck,
  signal: AbortSignal,
): Promise<string | null> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.any([signal, limit]) });
    await answer.body?.cancel();
    return answer.status === status ? null : `it answered ${answer.status}, and ${status} was expected`;
  } catch (error) {
    if (limit.aborted) return `no answer within ${timeout / 1000} s`;
    const { message, cause } = error as Error;
    return cause instanceof Error ? cause.message || message : message;
  }
}
