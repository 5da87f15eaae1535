import type { Worker, WorkerHealth } from '@tidemill/contract';

const DEGRADED_MS = 60_000;
const UNRESPONSIVE_MS = 120_000;

/** By its last sign of life. One that has not given any yet is just starting. */
export function workerHealth({ beats }: Pick<Worker, 'beats'>, now: number): WorkerHealth {
  const last = beats.at(-1)?.at;
  const silentMs = last === undefined ? 0 : now - last;
  if (silentMs > UNRESPONSIVE_MS) return 'unresponsive';
  return silentMs >= DEGRADED_MS ? 'degraded' : 'healthy';
}
