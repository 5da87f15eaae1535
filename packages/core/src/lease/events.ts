import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

export const leaseEvents = {
  'lease.claimed': (slice, body, { at }) =>
    changeTask(slice, body, () => {
      const { workerId, owner, token, expiresAt } = body;
      return { lease: { workerId, owner, token, claimedAt: at, expiresAt }, fence: token };
    }),
  'lease.renewed': (slice, body) =>
    changeTask(slice, body, ({ lease }) => {
      if (!lease) return null;
      const claimedAt = lease.claimedAt + (body.frozenMs ?? 0);
      return { lease: { ...lease, claimedAt, expiresAt: body.expiresAt } };
    }),
  'lease.released': (slice, body) => changeTask(slice, body, () => ({ lease: null })),
} satisfies Reductions;
