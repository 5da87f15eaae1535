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
  'tracker_item.see': OfItem & {
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
  'tracker_item.take': OfItem & { taskId: string; before: string | null; hash?: string; by: Actor };
  /** Together with the command that edits the task. */
  'tracker_item.follow': OfItem & { taskId: string; hash: string };
  /**
   * What people wrote about it. Each comment is passed on once; `text` is what an agent reads. `isFirst`: before the first
   * run, which will read the notes of the task.
   */
  'tracker_item.hear': OfItem & {
    taskId: string;
    comments: { id: string; author: string; text: string }[];
    isFirst?: boolean;
  };
  'tracker_item.refuse': OfItem & { why: string; by: Actor };
  'tracker_item.leave': OfItem & { why: string };
  'tracker_item.publish': OfItem & { published: PublishedState };
  'tracker_item.fail': OfItem & { error: string };
  'tracker_item.offer': OfItem & { taskId: string; labels: string[] };
  'tracker_item.create': OfItem & { key: string; url: string | null };
}

const scope = ({ itemId }: OfItem) => [look('record', itemId)];
const withTask = ({ itemId, taskId }: OfItem & { taskId: string }) => [look('task', taskId), look('record', itemId)];

export const trackerItemCommands: CommandParts<keyof TrackerItemCommands> = {
  'tracker_item.see': { scope, decide: seeItem },
  'tracker_item.take': { scope: withTask, decide: takeItem },
  'tracker_item.follow': { scope: withTask, decide: followItem },
  'tracker_item.hear': {
    scope: (command) => [...withTask(command), look('openRecordsOf', command.taskId)],
    decide: hearComments,
  },
  'tracker_item.refuse': { scope, decide: refuseItem },
  'tracker_item.leave': { scope, decide: leaveItem },
  'tracker_item.publish': { scope, decide: publishItem },
  'tracker_item.fail': { scope, decide: failItem },
  'tracker_item.offer': { scope: withTask, decide: offerItem },
  'tracker_item.create': { scope, decide: createItem },
};
