import {
  type Delivery,
  type DeliveryEnvironment,
  deliveryRef,
  type EventBody,
  environmentId,
} from '@tidemill/contract';
import type { Decision } from '../command.ts';
import { refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

interface About {
  projectId: string;
  deliveryId: string;
  environment: string;
}

type Found = { ok: true; delivery: Delivery } | Extract<Decision, { ok: false }>;

export function findDelivery(slice: Slice, { projectId, deliveryId, environment }: About): Found {
  const delivery = slice.record('delivery', deliveryId);
  if (delivery?.projectId !== projectId || delivery.environment !== environment)
    return refuse('not_found', `there is no delivery ${deliveryId} to ${environment}`);
  return { ok: true, delivery };
}

/** Only the process that carries it out may write about it. */
export function ownDelivery(slice: Slice, command: About & { owner: string }): Found {
  const found = findDelivery(slice, command);
  if (found.ok && (found.delivery.owner !== command.owner || found.delivery.endedAt !== null))
    return refuse('stale_lease', `${deliveryRef(found.delivery.number)} is not carried out by ${command.owner}`);
  return found;
}

/** The fields that every event about it has. */
export const about = ({ id: deliveryId, number, environment }: Delivery) => ({ deliveryId, number, environment });

/** The environment's row after the delivery. */
export function environmentAfter(
  { projectId, environment: name }: Delivery,
  state: DeliveryEnvironment['state'],
  live: DeliveryEnvironment['live'],
): DeliveryEnvironment {
  return { noun: 'environment', id: environmentId(projectId, name), projectId, name, state, live };
}

/** What is live after it is healthy. */
export const liveOf = ({ id: deliveryId, commit, tree, number }: Delivery, since: number) => ({
  commit,
  tree,
  deliveryId,
  number,
  since,
});

/** An alert in the transaction of what it tells. */
export const alertAbout = (
  { environment }: Pick<Delivery, 'environment'>,
  kind: 'delivery_failed' | 'delivery_rolled_back' | 'rollback_failed' | 'delivery_notice',
  severity: 'info' | 'warning' | 'error',
  text: string,
): EventBody => ({
  type: 'alert.raised',
  taskId: null,
  kind,
  severity,
  subject: environment,
  text: text.slice(0, 4000),
  count: 1,
});
