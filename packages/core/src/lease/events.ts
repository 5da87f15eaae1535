import type { Reductions } from '../noun.ts';
import { changeLeasedTask } from '../task-row.ts';

export const leaseEvents = {
  'lease.claimed': (slice, body, { at }) =>
    changeLeasedTask(slice, body, () => {
      const { workerId, owner, token, expiresAt } = body;
      return { lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token };
    }),
  'lease.renewed': (slice, body) =>
    changeLeasedTask(slice, body, ({ lease }) => {
      if (!lease) return null;
      const claimedAt = lease.claimedAt + (body.frozenMs ?? 0);
      return { lease: { ...lease, claimedAt, expiresAt: body.expiresAt } };
    }),
  'lease.released': (slice, body) => changeLeasedTask(slice, body, () => ({ lease: null })),
} satisfies Reductions;
