import type { Delivery } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const deliveryEvents = {
  'delivery.requested': (slice, { delivery, number }, { projectId }) => {
    const project = slice.projects.get(projectId);
    if (project) slice.projects.put({ ...project, nextDelivery: number + 1 });
    slice.records.put(delivery);
  },
  'delivery.approved': (slice, { deliveryId, by }, { at }) =>
    change(slice, deliveryId, () => ({ status: 'requested', why: '', approved: { by, at } })),
  'delivery.moved': (slice, { deliveryId, status, why, owner, previous, now }, { at }) => {
    change(slice, deliveryId, ({ startedAt, steps }) => ({
      phase: steps.length,
      status,
      why,
      owner,
      previous,
      startedAt: startedAt ?? (status === 'running' ? at : null),
    }));
    if (now) slice.records.put(now);
  },
  'delivery.taken': (slice, { deliveryId, owner }) => change(slice, deliveryId, () => ({ owner })),
  'delivery.step_began': (slice, { deliveryId, step }) =>
    change(slice, deliveryId, ({ steps }) => ({ steps: [...steps, step] })),
  'delivery.step_ended': (slice, { deliveryId, result, note }, { at }) =>
    change(slice, deliveryId, ({ steps }) => {
      const last = steps.at(-1);
      return last ? { steps: [...steps.slice(0, -1), { ...last, result, note, endedAt: at }] } : {};
    }),
  'delivery.proven': (slice, { deliveryId, evidence, unproven }) =>
    change(slice, deliveryId, () => ({ evidence, unproven })),
  'delivery.stopping': (slice, { deliveryId, by }, { at }) => change(slice, deliveryId, () => ({ stop: { by, at } })),
  'delivery.ended': (slice, { deliveryId, status, why, now }, { at }) => {
    change(slice, deliveryId, () => ({ status, why, owner: null, endedAt: at }));
    if (now) slice.records.put(now);
  },
} satisfies Reductions;

function change(slice: Slice, id: string, changed: (delivery: Delivery) => Partial<Delivery>): void {
  const delivery = slice.record('delivery', id);
  if (delivery) slice.records.put({ ...delivery, ...changed(delivery) });
}
