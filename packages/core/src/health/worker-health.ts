import type { Beat, Worker, WorkerHealth } from '@tidemill/contract';
import { ASK_AFTER_MS } from './stuck.ts';

const DEGRADED_MS = 60_000;
const UNRESPONSIVE_MS = 120_000;

/**
 * Judged by its last heartbeat and by the last sign of life of its agent: output, spending, progress, a gate within its
 * time limit. A hung agent is not healthy because its daemon's heart beats. The times for an agent are those after which
 * a task counts as stuck and a person is asked.
 */
export function workerHealth(worker: Pick<Worker, 'beats'>, now: number): WorkerHealth {
  const byBeat = heartbeatHealth(worker, now);
  const bySigns = signHealth(worker.beats.at(-1), now);
  return RANKS.indexOf(bySigns) > RANKS.indexOf(byBeat) ? bySigns : byBeat;
}

/** Judged by its last heartbeat only. A worker without one is just starting. */
export function heartbeatHealth({ beats }: Pick<Worker, 'beats'>, now: number): WorkerHealth {
  const last = beats.at(-1)?.at;
  const silentMs = last === undefined ? 0 : now - last;
  if (silentMs > UNRESPONSIVE_MS) return 'unresponsive';
  return silentMs >= DEGRADED_MS ? 'degraded' : 'healthy';
}

const RANKS: WorkerHealth[] = ['healthy', 'degraded', 'unresponsive'];

function signHealth(beat: Beat | undefined, now: number): WorkerHealth {
  if (!beat?.agent) return 'healthy';
  const silentMs = now - beat.agent.signAt;
  if (silentMs > ASK_AFTER_MS) return 'unresponsive';
  return silentMs > beat.agent.limitMs ? 'degraded' : 'healthy';
}
