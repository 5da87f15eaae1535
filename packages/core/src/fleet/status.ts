import type { Mode, Worker, WorkerStatus } from '@tidemill/contract';

/**
 *   idle ──claims──▶ working | reviewing ──end of its stage──▶ idle
 *     │                 └──its agent dies or cannot start──▶ crashed | failed ──claims again, restarted──▶ …
 *     └──a person's wish──▶ paused | stopped ──resumed──▶ idle
 * What a person wants is said first: a paused worker may still be on its way to the checkpoint.
 */
export function workerStatus(
  { wish, crash, role }: Pick<Worker, 'wish' | 'crash' | 'role'>,
  work: { mode: Mode | null } | null,
): WorkerStatus {
  if (wish === 'stopped') return 'stopped';
  if (wish !== 'running') return 'paused';
  if (work) return role === 'reviewer' || work.mode === 'review' ? 'reviewing' : 'working';
  return crash ? crash.status : 'idle';
}
