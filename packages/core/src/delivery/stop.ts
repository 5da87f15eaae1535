import { deliveryRef, isOpenDelivery } from '@tidemill/contract';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { withdrawnQuestions } from '../subject/questions.ts';
import { about, findDelivery } from './find.ts';

/** Before it began it is cancelled. Afterwards its owner ends the commands and rolls back. */
export function stopDelivery(slice: Slice, command: CommandOf<'delivery.stop'>): Decision {
  const found = findDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  const { by } = command;
  const ref = deliveryRef(delivery.number);
  if (!isOpenDelivery(delivery)) return refuse('conflict', `${ref} has ended: ${delivery.status}`);
  if (delivery.status === 'waiting' || delivery.status === 'requested') {
    const why = `stopped by ${by.name}`;
    return accept(
      { type: 'delivery.ended', ...about(delivery), status: 'cancelled', why, now: null },
      ...withdrawnQuestions(slice, delivery.id, why),
    );
  }
  if (delivery.status === 'asking' || delivery.status === 'rollback_failed')
    return refuse('conflict', `nothing of ${ref} is running`, 'answer its question: `tidemill inbox` shows it');
  if (delivery.stop) return accept();
  return accept({ type: 'delivery.stopping', ...about(delivery), by });
}
