import type { Worker, WorkerHealth } from '@tidemill/contract';

const DEGRADED_MS = 60_000;
const UNRESPONSIVE_MS = 120_000;

/** Judged by its last heartbeat. A worker without one is just starting. */
export function workerHealth({ beats }: Pick<Worker, 'beats'>, now: number): WorkerHealth {
  const last = beats.at(-1)?.at;
  const silentMs = last === undefined ? 0 : now - last;
  if (silentMs > UNRESPONSIVE_MS) return 'unresponsive';
  return silentMs >= DEGRADED_MS ? 'degraded' : 'healthy';
}
