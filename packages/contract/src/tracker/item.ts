import { z } from 'zod';
import { recordKind } from '../record/kind.ts';
import { Priority, TaskKind } from '../task/task.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

export const MAX_ITEM_TITLE = 300;
/** A longer text is cut, and the cut is marked. */
export const MAX_ITEM_BODY = 60_000;

/** What a tracker holds about an item, in the words of a task. */
export const ItemContent = z.object({
  title: PlainLine,
  body: PlainText,
  kind: TaskKind,
  priority: Priority,
  labels: z.array(PlainLine),
  /** Keys of items that must be done first, and whether they are. */
  blockedBy: z.array(z.object({ key: z.string(), isDone: z.boolean() })),
});
export type ItemContent = z.infer<typeof ItemContent>;

/** What was last seen of an item. */
export const SeenItem = z.object({
  ...ItemContent.shape,
  state: z.enum(['open', 'closed']),
  /** A person closed it as something that will not be done. */
  isRejected: z.boolean().default(false),
  /** Of title, body, kind and priority. */
  hash: z.string(),
  /** As the tracker writes it. */
  updatedAt: z.string(),
});
export type SeenItem = z.infer<typeof SeenItem>;

/** What Tidemill last wrote to the tracker. */
export const PublishedState = z.object({
  /** Of everything that was to be written. */
  hash: z.string(),
  commentId: z.string().nullable(),
  labels: z.array(z.string()),
  status: z.string().nullable(),
  isClosed: z.boolean(),
});
export type PublishedState = z.infer<typeof PublishedState>;

/**
 *   seen ──▶ waiting ──take──▶ taken ──▶ (again, when it is re-opened)
 *              │ └──refuse──▶ refused
 *              └──▶ left      another Tidemill has it, or it is gone
 *   offered ──created──▶ taken      a task of our own that becomes an item
 */
export const TrackerItemStatus = z.enum(['waiting', 'taken', 'refused', 'left', 'offered']);
export type TrackerItemStatus = z.infer<typeof TrackerItemStatus>;

/** Why an item waits for a person. */
export const WaitingReason = z.enum(['untrusted', 'edited', 'blocked', '']);
export type WaitingReason = z.infer<typeof WaitingReason>;

/** The link between an item of a tracker and its task. */
export const TrackerItem = z.object({
  noun: z.literal('tracker_item'),
  id: z.string(),
  projectId: z.string(),
  /** Such as `github:owner/name#12`. Null until an item of our own exists there. */
  key: z.string().nullable(),
  url: z.string().nullable(),
  author: z.string(),
  /** The author may push to the repository, or is trusted by name. Otherwise the text is data. */
  isTrusted: z.boolean(),
  seen: SeenItem.nullable(),
  status: TrackerItemStatus,
  waiting: WaitingReason,
  /** Why it was refused or left. */
  why: z.string(),
  taskId: z.string().nullable(),
  /** A person took it although another Tidemill had it. */
  isTakenOver: z.boolean().default(false),
  /** The hash of what the task was last given. */
  takenHash: z.string().nullable(),
  published: PublishedState.nullable(),
  /** The last failed write, until one succeeds. */
  error: z.string().nullable(),
  /** Labels for an item of our own. */
  offers: z.array(z.string()),
  /** Ids of comments that were passed on to its task. */
  heard: z.array(z.string()).default([]),
  createdAt: z.number(),
});
export type TrackerItem = z.infer<typeof TrackerItem>;

export const trackerItemKind = recordKind(TrackerItem, ({ projectId, taskId, status, waiting }) => ({
  parent: taskId ?? projectId,
  isOpen: status === 'waiting' || status === 'offered' || waiting === 'edited',
  dueAt: null,
}));

/** The id of the record of an item. */
export const trackerItemId = (projectId: string, key: string) => `tracker/${projectId}/${key}`;

/** An item as people see it. */
export const TrackerItemView = TrackerItem.pick({
  id: true,
  key: true,
  url: true,
  author: true,
  isTrusted: true,
  status: true,
  waiting: true,
  why: true,
  error: true,
}).extend({
  /** `#12`, or the name of the file. */
  name: z.string(),
  title: z.string(),
  /** The beginning of the text. */
  excerpt: z.string(),
  /** What a person who takes it has seen. */
  hash: z.string().nullable(),
  taskNumber: z.number().int().nullable(),
});
export type TrackerItemView = z.infer<typeof TrackerItemView>;

/** The state of a project's tracker. */
export const TrackerView = z.object({
  /** Such as `github:owner/name`. Null: none is configured. */
  name: z.string().nullable(),
  url: z.string().nullable(),
  /** False where no daemon works on the project. */
  isFollowed: z.boolean(),
  /** When it was last read completely. */
  syncedAt: z.number().nullable(),
  /** Why it cannot be read or written now. */
  trouble: z.string().nullable(),
  items: z.number().int(),
  waiting: z.array(TrackerItemView),
});
export type TrackerView = z.infer<typeof TrackerView>;
