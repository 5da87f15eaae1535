import { ENGINE, type EnvironmentRules, personActor } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { at, type Draw, projectId, recordOf } from './draw.ts';
import { receipt } from './mill.ts';

type DeliveryCommand = Extract<CommandType, `delivery.${string}`>;

const OWNERS = ['daemon-1', 'daemon-2'];
const rules = { hasHealth: true, hasRollback: false, repeatable: false };
/** The environments of the world. */
export const ENVIRONMENTS: EnvironmentRules[] = [
  { ...rules, name: 'staging', when: 'task', approve: 'automated', after: null },
  { ...rules, name: 'production', when: 'task', approve: 'requires_approval', after: 'staging' },
];

/** A delivery, mostly with its own owner. */
function ofDelivery({ mill, a, b }: Draw) {
  const delivery = recordOf(mill, 'delivery', a);
  const { id: deliveryId = 'delivery_0', environment = 'staging' } = delivery ?? {};
  const owner = b % 5 === 0 ? at(OWNERS, a) : (delivery?.owner ?? at(OWNERS, b));
  return { projectId, deliveryId, environment, owner };
}

export const deliveryGenerators: { [T in DeliveryCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'delivery.request': ({ mill, task, a, b }) => {
    const environment = at(['staging', 'staging', 'production', 'nowhere'], a);
    const open = [...mill.records.values()].filter(
      (each) => each.noun === 'delivery' && each.environment === environment && each.endedAt === null,
    );
    const by = b % 2 ? ENGINE : personActor('ada');
    const override = b % 3 === 0 && b % 2 === 0 ? 'needed now' : null;
    const tasks = [{ taskId: task.id, number: task.number, title: task.title, commit: `c${a % 3}` }];
    return {
      projectId,
      deliveryId: `delivery_${mill.records.size}_${a % 2}`,
      environment,
      ...{ commit: `c${a % 3}`, tree: at(['T0', 'T1', 'T2'], a), tasks, taskCount: 1 },
      ...{ cause: at(['task', 'manual', 'rollback', 'spec'] as const, b), specId: null, override },
      isApproved: b % 4 === 0,
      replaces: b % 7 === 0 ? [] : open.map(({ id }) => id),
      by,
    };
  },
  'delivery.begin': ofDelivery,
  'delivery.take': (draw) => ({
    ...ofDelivery(draw),
    owner: at(OWNERS, draw.b),
    from: recordOf(draw.mill, 'delivery', draw.a)?.owner ?? null,
  }),
  'delivery.prove': (draw) => {
    const tree = recordOf(draw.mill, 'delivery', draw.a)?.tree ?? 'T0';
    const status = at(['pass', 'pass', 'fail'] as const, draw.b);
    return { ...ofDelivery(draw), tree, receipts: draw.mill.rules().gates.map((gate) => receipt(gate, tree, status)) };
  },
  'delivery.step_begin': (draw) => ({
    ...ofDelivery(draw),
    kind: at(['prove', 'run', 'health', 'rollback'] as const, draw.b),
    name: 'make deploy',
  }),
  'delivery.step_end': (draw) => ({
    ...ofDelivery(draw),
    result: at(['passed', 'failed', 'timed_out', 'stopped'] as const, draw.b),
    note: 'exit code 0',
  }),
  'delivery.move': (draw) => ({
    ...ofDelivery(draw),
    to: at(['checking', 'rolling_back', 'asking', 'rollback_failed', 'running'] as const, draw.b),
    why: 'it failed',
  }),
  'delivery.end': (draw) => ({
    ...ofDelivery(draw),
    status: at(['healthy', 'failed', 'rolled_back'] as const, draw.b),
    why: '',
  }),
  'delivery.stop': (draw) => ({ ...ofDelivery(draw), by: personActor('ada') }),
};
