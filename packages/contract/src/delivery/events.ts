import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { counted, event, mill, said, spaced } from '../event/define.ts';
import { Delivery, DeliveryEnvironment, DeliveryStatus, DeliveryStep, deliveryRef, LiveCommit } from './delivery.ts';

const stale = ['deliveries', 'delivery', 'environments'] as const;
const ofDelivery = { deliveryId: z.string(), number: z.number().int(), environment: z.string() };
const named = ({ number, environment }: { number: number; environment: string }) =>
  `${deliveryRef(number)} to ${environment}`;

const ENDS: Record<string, string> = {
  healthy: 'is healthy',
  failed: 'failed',
  rolled_back: 'failed and was rolled back',
  rollback_failed: 'failed, and its rollback failed too',
  declined: 'was declined',
  cancelled: 'was stopped before it began',
  superseded: 'was replaced by a newer one',
};

export const deliveryEvents = [
  event(
    'delivery.requested',
    { ...ofDelivery, delivery: Delivery },
    {
      stale,
      shown: 'terminal',
      says: (body) =>
        said(
          body.delivery.by,
          `requested ${named(body)}: ${body.delivery.commit.slice(0, 10)}, ${counted(body.delivery.taskCount, 'task')}`,
        ),
    },
  ),
  event(
    'delivery.approved',
    { ...ofDelivery, by: Actor },
    { stale, shown: 'terminal', says: (body) => said(body.by, `approved ${named(body)}`) },
  ),
  event(
    'delivery.moved',
    {
      ...ofDelivery,
      status: DeliveryStatus,
      why: z.string(),
      /** Who carries it out from now on. */
      owner: z.string().nullable(),
      previous: LiveCommit.nullable(),
      /** What the environment has now; null when that did not change. */
      now: DeliveryEnvironment.nullable(),
    },
    { stale, shown: 'terminal', says: (body) => mill(`${named(body)}: ${spaced(body.status)}`) },
  ),
  event(
    'delivery.taken',
    { ...ofDelivery, owner: z.string() },
    { stale, shown: 'log', says: (body) => mill(`goes on with ${named(body)}`) },
  ),
  event(
    'delivery.step_began',
    { ...ofDelivery, step: DeliveryStep },
    { stale, shown: 'log', says: (body) => mill(`${named(body)}: ${body.step.name}`) },
  ),
  event(
    'delivery.step_ended',
    { ...ofDelivery, result: DeliveryStep.shape.result, note: z.string() },
    { stale, shown: 'log', says: (body) => mill(`${named(body)}: the step ${spaced(body.result)}, ${body.note}`) },
  ),
  event(
    'delivery.proven',
    { ...ofDelivery, evidence: Delivery.shape.evidence, unproven: z.array(z.string()) },
    {
      stale,
      shown: 'terminal',
      says: ({ unproven, ...body }) =>
        mill(
          `${named(body)}: ${unproven.length === 0 ? 'its commit passes the gates' : `its commit does not pass ${unproven.join(', ')}`}`,
        ),
    },
  ),
  event(
    'delivery.stopping',
    { ...ofDelivery, by: Actor },
    { stale, shown: 'terminal', says: (body) => said(body.by, `stopped ${named(body)}`) },
  ),
  event(
    'delivery.ended',
    {
      ...ofDelivery,
      status: DeliveryStatus,
      why: z.string(),
      /** What the environment has now; null when that did not change. */
      now: DeliveryEnvironment.nullable(),
    },
    {
      stale: [...stale, 'metrics'],
      shown: 'terminal',
      says: (body) => mill(`${named(body)} ${ENDS[body.status] ?? body.status}${body.why ? `: ${body.why}` : ''}`),
    },
  ),
] as const;
