import { z } from 'zod';
import { because, event, mill, ofSubject, said } from '../event/define.ts';
import { workerName } from '../worker/worker.ts';

export const leaseEvents = [
  event(
    'lease.claimed',
    {
      ...ofSubject,
      workerId: z.string(),
      owner: z.string(),
      token: z.number(),
      expiresAt: z.number(),
    },
    { stale: ['task'], shown: 'log', says: ({ workerId }) => said(workerName(workerId), 'claimed it') },
  ),
  /** `frozenMs` is the time the worker was frozen by a person: it does not count towards limits. */
  event(
    'lease.renewed',
    { ...ofSubject, token: z.number(), expiresAt: z.number(), frozenMs: z.number().optional() },
    { isSignOfLife: true, leavesSummary: true, shown: 'log', says: () => mill('the lease was renewed') },
  ),
  event(
    'lease.released',
    { ...ofSubject, workerId: z.string(), token: z.number(), why: z.string() },
    {
      stale: ['task'],
      shown: 'log',
      says: ({ workerId, why }) => said(workerName(workerId), `released it${because(why)}`),
    },
  ),
] as const;
