import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said } from '../event/define.ts';
import { PublishedState, SeenItem, WaitingReason } from './item.ts';

const stale = ['tracker', 'task'] as const;
const ofItem = { itemId: z.string() };

export const trackerItemEvents = [
  event(
    'tracker_item.seen',
    {
      ...ofItem,
      key: z.string(),
      url: z.string().nullable(),
      author: z.string(),
      isTrusted: z.boolean(),
      waiting: WaitingReason,
      seen: SeenItem,
    },
    {
      stale,
      shown: ({ waiting }) => (waiting === '' ? 'log' : 'page'),
      says: ({ key, author, seen, waiting }) =>
        mill(
          waiting === 'untrusted'
            ? `${key} by ${author} waits for a person: ${seen.title}`
            : `saw ${key}: ${seen.title} (${seen.state})`,
        ),
    },
  ),
  event(
    'tracker_item.taken',
    { ...ofItem, key: z.string(), taskId: z.string(), hash: z.string(), by: Actor },
    { stale, says: ({ key, by }) => said(by, `made a task of ${key}`) },
  ),
  /** The task has what the item says now. */
  event(
    'tracker_item.followed',
    { ...ofItem, taskId: z.string(), hash: z.string() },
    { stale, shown: 'log', says: () => mill('its task follows the edited item') },
  ),
  /** What people wrote there was passed on to the task. */
  event(
    'tracker_item.heard',
    { ...ofItem, taskId: z.string(), comments: z.array(z.string()), authors: z.array(z.string()) },
    { stale, says: ({ authors }) => said(authors.join(', '), 'commented on its item in the tracker') },
  ),
  event(
    'tracker_item.refused',
    { ...ofItem, why: z.string(), by: Actor },
    { stale, says: ({ by, why }) => said(by, `refused an item of the tracker: ${why}`) },
  ),
  event(
    'tracker_item.left',
    { ...ofItem, why: z.string() },
    { stale, says: ({ why }) => mill(`an item of the tracker is left alone: ${why}`) },
  ),
  event(
    'tracker_item.published',
    { ...ofItem, published: PublishedState },
    { stale, shown: 'log', says: () => mill('its state was written to the tracker') },
  ),
  event(
    'tracker_item.failed',
    { ...ofItem, error: z.string() },
    { stale, shown: 'log', says: ({ error }) => mill(`its state could not be written to the tracker: ${error}`) },
  ),
  /** A task that becomes an item: the intention, before anything is written outside. */
  event(
    'tracker_item.offered',
    { ...ofItem, taskId: z.string(), labels: z.array(z.string()) },
    { stale, shown: 'log', says: () => mill('it becomes an item of the tracker') },
  ),
  event(
    'tracker_item.created',
    { ...ofItem, taskId: z.string(), key: z.string(), url: z.string().nullable() },
    { stale, says: ({ key }) => mill(`it is now ${key}`) },
  ),
] as const;
