import { z } from 'zod';
import { by, count, get, note, post, project } from '../api/route.ts';
import { TrackerItemStatus, TrackerItemView, TrackerView } from './item.ts';

/** `12`, `#12`, a file's name, or the whole key (`github:owner/name#12`). */
const item = z.coerce.string<string | number>().min(1).max(400);

export const trackerRoutes = {
  tracker: get(
    '/v1/projects/:project/tracker',
    'The tracker: what it is, when it was read, what is wrong, and which items wait for a person',
    z.strictObject({ project }),
    TrackerView,
  ),
  trackerItems: get(
    '/v1/projects/:project/tracker/items',
    'The items of the tracker with their tasks, newest first',
    z.strictObject({
      project,
      status: TrackerItemStatus.optional(),
      limit: count().min(1).max(5_000).default(200),
    }),
    z.array(TrackerItemView),
  ),
  syncTracker: post(
    '/v1/projects/:project/tracker/sync',
    'Reads the tracker now and writes what is to be written',
    z.strictObject({ project, by }),
    TrackerView,
    { decides: true },
  ),
  takeItem: post(
    '/v1/projects/:project/tracker/take',
    'Makes a task of an item that waits, or gives its task the edited text',
    z.strictObject({
      project,
      by,
      item,
      /** What the person has seen. Refused when the item has changed since. */
      hash: z.string().max(100).optional(),
    }),
    TrackerItemView,
    { decides: true },
  ),
  refuseItem: post(
    '/v1/projects/:project/tracker/refuse',
    'Refuses an item: no task is made of it',
    z.strictObject({ project, by, item, why: note.min(1, 'says why') }),
    TrackerItemView,
    { decides: true },
  ),
};
