import type { Task } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { changeTask } from '../task-row.ts';

export const leaseEvents = {
  'lease.claimed': (slice, body, { at }) =>
    changeLeased(slice, body, () => {
      const { workerId, owner, token, expiresAt } = body;
      return { lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token };
    }),
  'lease.renewed': (slice, body) =>
    changeLeased(slice, body, ({ lease }) => {
      if (!lease) return null;
      const claimedAt = lease.claimedAt + (body.frozenMs ?? 0);
      return { lease: { ...lease, claimedAt, expiresAt: body.expiresAt } };
    }),
  'lease.released': (slice, body) => changeLeased(slice, body, () => ({ lease: null })),
} satisfies Reductions;

/** `job/events.ts` handles the lease of a job. */
function changeLeased(
  slice: Slice,
  body: { type: string; subjectId: string; jobId?: string },
  change: (task: Task) => Partial<Task> | null,
): void {
  if (body.jobId === undefined) changeTask(slice, { type: body.type, taskId: body.subjectId }, change);
}
