import { setTimeout as delay } from 'node:timers/promises';

/** The value below which the share `p` of the samples lies. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

export const median = (samples: readonly number[]) => percentile(samples, 0.5);

/** Calls at an even pace, whether those before them have ended or not. Ends when all have. */
export async function paced(rate: number, seconds: number, call: (index: number) => Promise<unknown>) {
  const startedAt = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let index = 0; index < seconds * rate; index += 1) {
    const early = startedAt + (index * 1000) / rate - performance.now();
    if (early > 0) await delay(early);
    calls.push(call(index));
  }
  await Promise.all(calls);
}

export async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * Runs the contestants in turn, A B C A B C …, so that whatever else the machine does hits all of them alike, and
 * answers every round's figure by contestant. The order turns around in every second round: none is always the first.
 */
export async function interleaved<K extends string>(
  rounds: number,
  contestants: Record<K, (round: number) => Promise<number>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(contestants) as K[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) figures[name].push(await contestants[name](round));
  }
  return figures;
}

/** `lanes` loops side by side; each ends when its step answers false. */
export async function concurrently(lanes: number, step: (lane: number) => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      while (await step(lane));
    }),
  );
}

export const perSecond = (count: number, ms: number) => (count * 1000) / ms;
