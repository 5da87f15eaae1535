import type { Reductions } from '../noun.ts';
import { asRead } from '../task/unread.ts';
import { changeLeasedTask } from '../task-row.ts';

export const leaseEvents = {
  'lease.claimed': (slice, body, { at }) =>
    changeLeasedTask(slice, body, ({ role, feedback }) => {
      const { workerId, owner, token, expiresAt } = body;
      // A builder gets the task as it is now, with everything that people said.
      const told = role === 'builder' ? { feedback: feedback.map(asRead) } : {};
      return { ...told, lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token };
    }),
  'lease.renewed': (slice, body) =>
    changeLeasedTask(slice, body, ({ lease }) => {
      if (!lease) return null;
      const claimedAt = lease.claimedAt + (body.frozenMs ?? 0);
      return { lease: { ...lease, claimedAt, expiresAt: body.expiresAt } };
    }),
  'lease.released': (slice, body) => changeLeasedTask(slice, body, () => ({ lease: null })),
} satisfies Reductions;
