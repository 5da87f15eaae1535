import { DELIVERY_ANSWERS, type Delivery, type EventBody } from '@tidemill/contract';
import type { SubjectPart } from '../subject/part.ts';
import { about, environmentAfter } from './find.ts';
import { ended, moved } from './progress.ts';

/** What a person's answer does. In the transaction of the answer, so that it counts once. */
export const deliveryPart: SubjectPart<'delivery'> = {
  jobEnded: () => [],
  resumed: (_slice, delivery, env, { question: { effect }, answer }) => {
    if (effect.kind !== 'delivery') return [];
    const { option, by } = answer;
    const said = `${by.name} answered: ${answer.text}`;
    switch (effect.about) {
      case 'approval':
        if (delivery.status !== 'waiting') return [];
        return option === DELIVERY_ANSWERS.approve
          ? [{ type: 'delivery.approved', ...about(delivery), by }]
          : [{ type: 'delivery.ended', ...about(delivery), status: 'declined', why: said, now: null }];
      case 'interrupted':
        if (delivery.status !== 'asking') return [];
        if (option === DELIVERY_ANSWERS.live) return ended(delivery, 'healthy', said, env);
        if (option === DELIVERY_ANSWERS.again) return [moved(delivery, 'requested', { owner: null, why: said })];
        return [rollingBack(delivery, said)];
      case 'rollback':
        if (delivery.status !== 'rollback_failed') return [];
        if (option === DELIVERY_ANSWERS.rollBack) return [rollingBack(delivery, said)];
        if (option === DELIVERY_ANSWERS.live) return [over(delivery, 'rolled_back', said)];
        return [over(delivery, 'rollback_failed', said)];
    }
  },
};

const rollingBack = (delivery: Delivery, why: string): EventBody =>
  moved(delivery, 'rolling_back', { owner: null, why });

/** The person has seen it already, so there is no further alert. */
const over = (delivery: Delivery, status: 'rolled_back' | 'rollback_failed', why: string): EventBody => ({
  type: 'delivery.ended',
  ...about(delivery),
  status,
  why,
  now: environmentAfter(delivery, status === 'rolled_back' ? 'healthy' : 'unknown', delivery.previous),
});
