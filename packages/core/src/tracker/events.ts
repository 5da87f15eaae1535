import type { TrackerItem } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

const EMPTY = {
  noun: 'tracker_item',
  key: null,
  url: null,
  author: '',
  isTrusted: true,
  seen: null,
  waiting: '',
  why: '',
  taskId: null,
  isTakenOver: false,
  takenHash: null,
  published: null,
  error: null,
  offers: [],
  heard: [],
} as const;
/** The ids of older comments are dropped: with more of them on one item, a whole read would pass on the oldest again. */
const MOST_HEARD = 2_000;

export const trackerItemEvents = {
  'tracker_item.seen': (slice, { itemId: id, key, url, author, isTrusted, waiting, seen }, { projectId, at }) => {
    const known = slice.record('tracker_item', id);
    const item = known ?? { ...EMPTY, offers: [], heard: [], id, projectId, status: 'waiting' as const, createdAt: at };
    const status = item.status === 'left' ? (item.taskId === null ? 'waiting' : 'taken') : item.status;
    slice.records.put({ ...item, key, url, author, isTrusted, waiting, seen, status });
  },
  'tracker_item.taken': (slice, { itemId, taskId, hash, by }) =>
    change(slice, itemId, ({ published, status }) => ({
      isTakenOver: status === 'left' && by.kind !== 'engine',
      ...{ status: 'taken', waiting: '', why: '', taskId, takenHash: hash, error: null },
      // A new task has heard nothing yet.
      heard: [],
      // The comment and the labels of an earlier task stay known, so that they are changed and not added again.
      published: published && { ...published, hash: '', isClosed: false },
    })),
  'tracker_item.followed': (slice, { itemId, hash }) => change(slice, itemId, () => ({ takenHash: hash, waiting: '' })),
  'tracker_item.heard': (slice, { itemId, comments }) =>
    change(slice, itemId, ({ heard }) => ({ heard: [...heard, ...comments].slice(-MOST_HEARD) })),
  'tracker_item.refused': (slice, { itemId, why }) =>
    // An edit that is refused leaves the task as it is.
    change(slice, itemId, ({ status, seen, takenHash }) =>
      status === 'taken'
        ? { waiting: '', takenHash: seen?.hash ?? takenHash }
        : { status: 'refused', waiting: '', why },
    ),
  'tracker_item.left': (slice, { itemId, why }) =>
    change(slice, itemId, () => ({ status: 'left', waiting: '', why, error: null })),
  'tracker_item.published': (slice, { itemId, published }) => change(slice, itemId, () => ({ published, error: null })),
  'tracker_item.failed': (slice, { itemId, error }) => change(slice, itemId, () => ({ error })),
  'tracker_item.offered': (slice, { itemId: id, taskId, labels }, { projectId, at }) =>
    slice.records.put({ ...EMPTY, heard: [], id, projectId, status: 'offered', taskId, offers: labels, createdAt: at }),
  'tracker_item.created': (slice, { itemId, key, url }) =>
    change(slice, itemId, () => ({ key, url, status: 'taken', error: null })),
} satisfies Reductions;

function change(slice: Slice, id: string, changed: (item: TrackerItem) => Partial<TrackerItem>): void {
  const item = slice.record('tracker_item', id);
  if (item) slice.records.put({ ...item, ...changed(item) });
}
