import { personActor, type SeenItem } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { at, type Draw, projectId } from './draw.ts';

type TrackerCommand = Extract<CommandType, `trackerItem.${string}`>;

const by = personActor('ada');
const about = ({ a }: Draw) => ({ projectId, itemId: `tracker/${projectId}/k${a % 4}` });
const hashOf = (b: number) => `h${b % 3}`;
const seenOf = ({ b }: Draw): SeenItem => ({
  ...{ title: 'An issue', body: 'x', kind: 'feature', priority: b % 5, labels: [], blockedBy: [] },
  ...{ state: b % 4 ? 'open' : 'closed', isRejected: b % 8 === 0, hash: hashOf(b), updatedAt: `t${b}` },
});

/** Commands about items of a tracker. */
export const TRACKER_GENERATORS: { [T in TrackerCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'trackerItem.see': (draw) => ({
    ...about(draw),
    ...{ key: `k${draw.b % 9 ? draw.a % 4 : 9}`, url: null, author: 'eve', isTrusted: draw.b % 2 > 0 },
    ...{ waiting: at(['untrusted', '', 'blocked'] as const, draw.b), seen: seenOf(draw) },
  }),
  'trackerItem.take': (draw) => ({ ...about(draw), taskId: draw.task.id, before: draw.b % 2 ? null : 'task_0', by }),
  'trackerItem.follow': (draw) => ({ ...about(draw), taskId: draw.task.id, hash: hashOf(draw.b) }),
  'trackerItem.hear': (draw) => ({
    ...about(draw),
    taskId: draw.task.id,
    comments: [{ id: `c${draw.b % 5}`, author: 'ada', text: 'ada: more' }],
  }),
  'trackerItem.refuse': (draw) => ({ ...about(draw), why: 'no', by }),
  'trackerItem.leave': (draw) => ({ ...about(draw), why: 'it is gone' }),
  'trackerItem.publish': (draw) => ({
    ...about(draw),
    published: { hash: hashOf(draw.b), commentId: '1', labels: [], status: null, isClosed: draw.b % 2 > 0 },
  }),
  'trackerItem.fail': (draw) => ({ ...about(draw), error: `e${draw.b % 2}` }),
  'trackerItem.offer': (draw) => ({ ...about(draw), taskId: draw.task.id, labels: ['agent-generated'] }),
  'trackerItem.create': (draw) => ({ ...about(draw), key: `k${draw.a % 4}`, url: null }),
};
