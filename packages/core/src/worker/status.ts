import { isIdeating, type Mode, type Worker, type WorkerStatus } from '@tidemill/contract';

/**
 *   idle ──claims──▶ working | reviewing | ideating ──end of its work──▶ idle
 *     │                 └──its agent dies or cannot start──▶ crashed | failed ──claims again, restarted──▶ …
 *     └──a person's order──▶ paused | stopped ──resumed──▶ idle
 * The desired state comes first: a paused worker may still be working until its checkpoint.
 */
export function workerStatus(
  { desired, crash, role }: Pick<Worker, 'desired' | 'crash' | 'role'>,
  work: { mode: Mode | null } | null,
): WorkerStatus {
  if (desired === 'stopped') return 'stopped';
  if (desired !== 'running') return 'paused';
  if (work && (role === 'reviewer' || work.mode === 'review')) return 'reviewing';
  if (work) return work.mode !== null && isIdeating(work.mode) ? 'ideating' : 'working';
  return crash ? crash.status : 'idle';
}
