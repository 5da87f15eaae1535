import { deliveryRef } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { about, ownDelivery } from './find.ts';

export function beginStep(slice: Slice, command: CommandOf<'delivery.step_begin'>, env: DecideEnv): Decision {
  const found = ownDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  const { kind, name } = command;
  if (delivery.status === 'running' && delivery.unproven.length > 0 && kind !== 'prove')
    return refuse('evidence_missing', `${deliveryRef(delivery.number)} is not proven: ${delivery.unproven.join(', ')}`);
  const last = delivery.steps.at(-1);
  // Its owner begins one after another: the same one again is a repetition whose first answer was lost.
  if (last?.result === 'running' && last.kind === kind && last.name === name) return accept();
  if (last?.result === 'running') return refuse('conflict', `a step of ${deliveryRef(delivery.number)} is running`);
  const step = { kind, name, result: 'running' as const, startedAt: env.now, endedAt: null, note: '' };
  return accept({ type: 'delivery.step_began', ...about(delivery), step });
}

export function endStep(slice: Slice, command: CommandOf<'delivery.step_end'>): Decision {
  const found = ownDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  const { result, note } = command;
  const last = delivery.steps.at(-1);
  if (last?.result === result && last.note === note) return accept();
  if (last?.result !== 'running') return refuse('conflict', `no step of ${deliveryRef(delivery.number)} is running`);
  return accept({ type: 'delivery.step_ended', ...about(delivery), result, note });
}
