import { z } from 'zod';
import { by, count, get, note, post, project } from '../api/route.ts';
import { plainLine } from '../text/plain-text.ts';
import { TrackerItemStatus, TrackerItemView, TrackerView } from './item.ts';

/** `12`, `#12`, a file's name, or the whole key (`github:owner/name#12`). */
const item = z.coerce.string<string | number>().min(1).max(400);

export const trackerRoutes = {
  tracker: get(
    '/v1/projects/:project/tracker',
    'The tracker: what it is, when it was read, what is wrong, and which items wait for a person',
    z.strictObject({ project }),
    TrackerView,
    {
      cli: {
        usage: 'tracker status',
        isDefault: true,
        about: 'show the tracker, when it was read, and what waits for you',
        details:
          'The tracker, when it was read, and which items wait for you; `tidemill tracker` does the same. See [Trackers](tracker.md)',
      },
    },
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
    {
      cli: {
        usage: 'tracker items',
        about: 'list the items and their tasks, newest first',
        options: { status: '<status> only those with this status, such as waiting' },
      },
    },
  ),
  syncTracker: post(
    '/v1/projects/:project/tracker/sync',
    'Reads the tracker now and writes what is to be written',
    z.strictObject({ project, by }),
    TrackerView,
    {
      decides: true,
      cli: {
        usage: 'tracker sync',
        about: 'read it now, instead of with the next poll',
        details: 'Reads the tracker now. Needs a running daemon',
      },
    },
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
    {
      decides: true,
      cli: {
        usage: 'tracker take <item>',
        about: 'make a task of an item that waits, or give its task the edited text',
        details:
          'Makes a task of an item that waits, or gives its task the edited text. ITEM is `12`, `#12`, the name of a file, or the whole key',
        says: ({ name, taskNumber }) => `${plainLine(name)} is task #${taskNumber}.`,
      },
    },
  ),
  refuseItem: post(
    '/v1/projects/:project/tracker/refuse',
    'Refuses an item: no task is made of it',
    z.strictObject({ project, by, item, why: note.min(1, 'says why') }),
    TrackerItemView,
    {
      decides: true,
      cli: {
        usage: 'tracker refuse <item>',
        about: 'refuse an item: no task is made of it',
        options: { why: '<reason> the reason' },
        says: ({ name }) => `${plainLine(name)} is refused.`,
      },
    },
  ),
};
