import { personActor, type SeenItem } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { at, type Draw, projectId } from './draw.ts';

type TrackerCommand = Extract<CommandType, `tracker_item.${string}`>;

const by = personActor('ada');
const about = ({ a }: Draw) => ({ projectId, itemId: `tracker/${projectId}/k${a % 4}` });
const hashOf = (b: number) => `h${b % 3}`;
const seenOf = ({ b }: Draw): SeenItem => ({
  ...{ title: 'An issue', body: 'x', kind: 'feature', priority: b % 5, labels: [], blockedBy: [] },
  ...{ state: b % 4 ? 'open' : 'closed', isRejected: b % 8 === 0, hash: hashOf(b), updatedAt: `t${b}` },
});

/** Commands about items of a tracker. */
export const TRACKER_GENERATORS: { [T in TrackerCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'tracker_item.see': (draw) => ({
    ...about(draw),
    ...{ key: `k${draw.b % 9 ? draw.a % 4 : 9}`, url: null, author: 'eve', isTrusted: draw.b % 2 > 0 },
    ...{ waiting: at(['untrusted', '', 'blocked'] as const, draw.b), seen: seenOf(draw) },
  }),
  'tracker_item.take': (draw) => ({ ...about(draw), taskId: draw.task.id, before: draw.b % 2 ? null : 'task_0', by }),
  'tracker_item.follow': (draw) => ({ ...about(draw), taskId: draw.task.id, hash: hashOf(draw.b) }),
  'tracker_item.hear': (draw) => ({
    ...about(draw),
    taskId: draw.task.id,
    comments: [{ id: `c${draw.b % 5}`, author: 'ada', text: 'ada: more' }],
  }),
  'tracker_item.refuse': (draw) => ({ ...about(draw), why: 'no', by }),
  'tracker_item.leave': (draw) => ({ ...about(draw), why: 'it is gone' }),
  'tracker_item.publish': (draw) => ({
    ...about(draw),
    published: { hash: hashOf(draw.b), commentId: '1', labels: [], status: null, isClosed: draw.b % 2 > 0 },
  }),
  'tracker_item.fail': (draw) => ({ ...about(draw), error: `e${draw.b % 2}` }),
  'tracker_item.offer': (draw) => ({ ...about(draw), taskId: draw.task.id, labels: ['agent-generated'] }),
  'tracker_item.create': (draw) => ({ ...about(draw), key: `k${draw.a % 4}`, url: null }),
};
