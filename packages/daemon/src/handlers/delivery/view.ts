import { type Delivery, type DeliveryView, deliveryRef, isOpenDelivery } from '@tidemill/contract';
import type { Services } from '../context.ts';

export async function viewOf({ store }: Pick<Services, 'store'>, delivery: Delivery): Promise<DeliveryView> {
  const { noun: _noun, owner: _owner, ...rest } = delivery;
  const questions = isOpenDelivery(delivery)
    ? await store.records({ noun: 'question', parent: delivery.id, isOpen: true })
    : [];
  return { ...rest, ref: deliveryRef(delivery.number), questionRef: questions[0]?.ref ?? null };
}
