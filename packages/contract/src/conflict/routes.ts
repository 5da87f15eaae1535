import { z } from 'zod';
import { by, get, ofTask, post, project, put } from '../api/route.ts';
import { ComingPair, TaskSummary } from '../task/view.ts';
import { ConflictDetail, ConflictFile, ConflictSummary, Resolution } from './conflict.ts';

export const conflictRoutes = {
  conflicts: get(
    '/v1/projects/:project/conflicts',
    'Conflicts that wait for a person',
    z.strictObject({ project }),
    z.array(ConflictSummary),
  ),
  comingConflicts: get(
    '/v1/projects/:project/coming-conflicts',
    'Conflicts that will come when unfinished changes land as they are',
    z.strictObject({ project }),
    z.array(ComingPair),
  ),
  conflict: get(
    '/v1/projects/:project/conflicts/:task',
    'The files of a conflict, with all sides of each',
    z.strictObject(ofTask),
    ConflictDetail,
  ),
  resolveFile: put(
    '/v1/projects/:project/conflicts/:task/file',
    'Resolves one file; it can be changed until the conflict is settled',
    z.strictObject({ ...ofTask, by, path: z.string().min(1).max(4096), resolution: Resolution }),
    ConflictFile,
    { decides: true },
  ),
  settleConflict: post(
    '/v1/projects/:project/conflicts/:task/settle',
    'Marks a conflict as resolved; refused while a marker is left, or when lines of the target are missing and not accepted',
    z.strictObject({
      ...ofTask,
      by,
      /** `content` of each loss that the person accepts. */
      accept: z.array(z.string().max(200)).max(10_000).optional(),
    }),
    TaskSummary,
    { decides: true },
  ),
  abortConflict: post(
    '/v1/projects/:project/conflicts/:task/abort',
    'Restarts the task on the newest target; the work so far is kept in a snapshot',
    z.strictObject({ ...ofTask, by }),
    TaskSummary,
    { decides: true },
  ),
};
