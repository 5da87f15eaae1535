import { z } from 'zod';
import { by, count, get, note, post, project } from '../api/route.ts';
import { RecordedTaskView, ReplayDetail, ReplayOrder, ReplayView } from './replay.ts';

/** `3`, `R3`, or its id. */
const replay = z.coerce.string<string | number>().min(1).max(100);

export const replayRoutes = {
  replays: get(
    '/v1/projects/:project/replays',
    'The replays of recorded tasks, newest first, with their figures',
    z.strictObject({ project, limit: count().min(1).max(1000).default(50) }),
    z.array(ReplayView),
  ),
  replay: get(
    '/v1/projects/:project/replays/:replay',
    'A replay with each of its runs',
    z.strictObject({ project, replay }),
    ReplayDetail,
  ),
  recordedTasks: get(
    '/v1/projects/:project/recorded-tasks',
    'The landed tasks that can be done again, newest first, and why others cannot',
    z.strictObject({ project, limit: count().min(1).max(200).default(50) }),
    z.array(RecordedTaskView),
  ),
  startReplay: post(
    '/v1/projects/:project/replays',
    'Does recorded tasks again, in isolation, and compares agents, prompts or a lesson; nothing lands',
    z.strictObject({ project, by, ...ReplayOrder.shape }),
    ReplayView,
    { decides: true },
  ),
  stopReplay: post(
    '/v1/projects/:project/replays/:replay/stop',
    'Stops a replay; the figures so far are kept',
    z.strictObject({ project, replay, by, why: note.default('') }),
    ReplayView,
    { decides: true },
  ),
};
