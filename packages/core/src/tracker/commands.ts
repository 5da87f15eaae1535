import type { Actor, PublishedState, SeenItem, WaitingReason } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { hearComments } from './hear.ts';
import {
  createItem,
  failItem,
  followItem,
  leaveItem,
  offerItem,
  publishItem,
  refuseItem,
  seeItem,
  takeItem,
} from './item.ts';

interface OfItem {
  itemId: string;
}

export interface TrackerItemCommands {
  /** What a tracker holds about an item now. Nothing happens when it is known. */
  'trackerItem.see': OfItem & {
    key: string;
    url: string | null;
    author: string;
    isTrusted: boolean;
    /** Why it must wait for a person, if it has no task yet. */
    waiting: WaitingReason;
    seen: SeenItem;
  };
  /**
   * Together with the command that creates the task. `before`: the task that the item had, so that two calls make one.
   * `hash`: what the person has seen.
   */
  'trackerItem.take': OfItem & { taskId: string; before: string | null; hash?: string; by: Actor };
  /** Together with the command that edits the task. */
  'trackerItem.follow': OfItem & { taskId: string; hash: string };
  /**
   * What people wrote about it. Each comment is passed on once; `text` is what an agent reads. `isFirst`: before the first
   * run, which will read the notes of the task.
   */
  'trackerItem.hear': OfItem & {
    taskId: string;
    comments: { id: string; author: string; text: string }[];
    isFirst?: boolean;
  };
  'trackerItem.refuse': OfItem & { why: string; by: Actor };
  'trackerItem.leave': OfItem & { why: string };
  'trackerItem.publish': OfItem & { published: PublishedState };
  'trackerItem.fail': OfItem & { error: string };
  'trackerItem.offer': OfItem & { taskId: string; labels: string[] };
  'trackerItem.create': OfItem & { key: string; url: string | null };
}

const scope = ({ itemId }: OfItem) => [look('record', itemId)];
const withTask = ({ itemId, taskId }: OfItem & { taskId: string }) => [look('task', taskId), look('record', itemId)];

export const trackerItemCommands: CommandParts<keyof TrackerItemCommands> = {
  'trackerItem.see': { scope, decide: seeItem },
  'trackerItem.take': { scope: withTask, decide: takeItem },
  'trackerItem.follow': { scope: withTask, decide: followItem },
  'trackerItem.hear': {
    scope: (command) => [...withTask(command), look('openRecordsOf', command.taskId)],
    decide: hearComments,
  },
  'trackerItem.refuse': { scope, decide: refuseItem },
  'trackerItem.leave': { scope, decide: leaveItem },
  'trackerItem.publish': { scope, decide: publishItem },
  'trackerItem.fail': { scope, decide: failItem },
  'trackerItem.offer': { scope: withTask, decide: offerItem },
  'trackerItem.create': { scope, decide: createItem },
};
