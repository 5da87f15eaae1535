import { deliveryRef } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { about, ownDelivery } from './find.ts';

export function beginStep(slice: Slice, command: CommandOf<'delivery.step_begin'>, env: DecideEnv): Decision {
  const found = ownDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  if (delivery.steps.at(-1)?.result === 'running')
    return refuse('conflict', `a step of ${deliveryRef(delivery.number)} is running`);
  const { kind, name } = command;
  const step = { kind, name, result: 'running' as const, startedAt: env.now, endedAt: null, note: '' };
  return accept({ type: 'delivery.step_began', ...about(delivery), step });
}

export function endStep(slice: Slice, command: CommandOf<'delivery.step_end'>): Decision {
  const found = ownDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  if (delivery.steps.at(-1)?.result !== 'running')
    return refuse('conflict', `no step of ${deliveryRef(delivery.number)} is running`);
  const { result, note } = command;
  return accept({ type: 'delivery.step_ended', ...about(delivery), result, note });
}
