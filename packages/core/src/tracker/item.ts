import type { Refusal, SeenItem, TrackerItem } from '@tidemill/contract';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

type Found = { ok: true; item: TrackerItem } | { ok: false; refusal: Refusal };

export function find(slice: Slice, { projectId, itemId }: { projectId: string; itemId: string }): Found {
  const item = slice.record('tracker_item', itemId);
  if (item?.projectId === projectId) return { ok: true, item };
  const hint = '`tidemill tracker items` lists them';
  return { ok: false, refusal: { code: 'not_found', message: `there is no item ${itemId}`, hint } };
}

/** A tracker notes every comment as a change: only what counts for a task is compared. */
const facts = ({ hash, state, isRejected, blockedBy }: SeenItem) =>
  JSON.stringify([hash, state, isRejected, blockedBy]);

export function seeItem(slice: Slice, command: CommandOf<'tracker_item.see'>): Decision {
  const { itemId, key, url, author, isTrusted, seen } = command;
  const item = slice.record('tracker_item', itemId);
  if (item && item.projectId !== command.projectId) return refuse('not_found', `there is no item ${itemId}`);
  if (item?.key && item.key !== key) return refuse('conflict', `${itemId} is ${item.key}, not ${key}`);
  const waiting = waitingAfter(item, command);
  const isKnown = item?.seen && item.status !== 'left' && facts(item.seen) === facts(seen) && item.waiting === waiting;
  if (isKnown && item.url === url && item.author === author && item.isTrusted === isTrusted) return accept();
  return accept({ type: 'tracker_item.seen', itemId, key, url, author, isTrusted, waiting, seen });
}

/** The text of a stranger may change after a person has taken it, so a change waits for the person again. */
function waitingAfter(item: TrackerItem | undefined, command: CommandOf<'tracker_item.see'>): TrackerItem['waiting'] {
  if (item?.status === 'refused') return '';
  if (!item || item.status === 'waiting' || item.taskId === null) return command.waiting;
  if (item.status !== 'taken' || command.isTrusted || command.seen.hash === item.takenHash) return '';
  return command.waiting === '' ? '' : 'edited';
}

export function takeItem(slice: Slice, command: CommandOf<'tracker_item.take'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { item } = found;
  const { itemId, taskId, before, hash, by } = command;
  if (item.taskId === taskId) return accept();
  if (item.taskId !== before || item.status === 'offered')
    return refuse('conflict', `${item.key ?? itemId} is already a task`, 'look at its task instead');
  if (!item.seen || item.key === null) return refuse('conflict', `nothing is known about ${itemId} yet`);
  if (hash !== undefined && hash !== item.seen.hash)
    return refuse('conflict', `${item.key} has changed since you looked at it`, 'read it again, then take it');
  if (slice.tasks.get(taskId)?.origin?.id !== itemId)
    return refuse('not_found', `there is no task ${taskId} of this item`);
  return accept({ type: 'tracker_item.taken', itemId, key: item.key, taskId, hash: item.seen.hash, by });
}

export function followItem(slice: Slice, command: CommandOf<'tracker_item.follow'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { item } = found;
  const { itemId, taskId, hash } = command;
  if (item.taskId !== taskId) return refuse('conflict', `${item.key ?? itemId} has another task by now`);
  if (item.seen?.hash !== hash)
    return refuse('conflict', `${item.key ?? itemId} has changed since you looked at it`, 'read it again');
  if (item.takenHash === hash && item.waiting === '') return accept();
  return accept({ type: 'tracker_item.followed', itemId, taskId, hash });
}

export function refuseItem(slice: Slice, command: CommandOf<'tracker_item.refuse'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { item } = found;
  const { itemId, why, by } = command;
  if (item.status === 'refused') return accept();
  if (item.status === 'taken' && item.waiting !== 'edited')
    return refuse('conflict', `${item.key} is already a task`, 'cancel its task instead');
  if (item.status === 'offered' || item.status === 'left')
    return refuse('conflict', `${item.key ?? itemId} does not wait for a decision`);
  return accept({ type: 'tracker_item.refused', itemId, why, by });
}

export function leaveItem(slice: Slice, command: CommandOf<'tracker_item.leave'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { itemId, why } = command;
  if (found.item.status === 'left' && found.item.why === why) return accept();
  return accept({ type: 'tracker_item.left', itemId, why });
}

export function publishItem(slice: Slice, command: CommandOf<'tracker_item.publish'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { itemId, published } = command;
  if (JSON.stringify(found.item.published) === JSON.stringify(published) && found.item.error === null) return accept();
  return accept({ type: 'tracker_item.published', itemId, published });
}

export function failItem(slice: Slice, command: CommandOf<'tracker_item.fail'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { itemId, error } = command;
  return found.item.error === error ? accept() : accept({ type: 'tracker_item.failed', itemId, error });
}

export function offerItem(slice: Slice, command: CommandOf<'tracker_item.offer'>): Decision {
  const { projectId, itemId, taskId, labels } = command;
  if (slice.record('tracker_item', itemId)) return accept();
  if (slice.tasks.get(taskId)?.projectId !== projectId) return refuse('not_found', `there is no task ${taskId}`);
  return accept({ type: 'tracker_item.offered', itemId, taskId, labels });
}

export function createItem(slice: Slice, command: CommandOf<'tracker_item.create'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { item } = found;
  const { itemId, key, url } = command;
  if (item.key === key) return accept();
  if (item.key !== null || item.taskId === null) return refuse('conflict', `${itemId} is already ${item.key}`);
  return accept({ type: 'tracker_item.created', itemId, taskId: item.taskId, key, url });
}
