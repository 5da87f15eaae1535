import { z } from 'zod';
import { ConflictDetail, ConflictFile, ConflictSummary, Resolution } from '../conflict.ts';
import { TaskSummary } from '../view.ts';
import { by, get, ofTask, post, project, put } from './route.ts';

export const conflictRoutes = {
  conflicts: get(
    '/v1/projects/:project/conflicts',
    'Conflicts that wait for a person',
    z.strictObject({ project }),
    z.array(ConflictSummary),
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
  ),
  settleConflict: post(
    '/v1/projects/:project/conflicts/:task/settle',
    'Marks a conflict as resolved; refused while a marker is left',
    z.strictObject({ ...ofTask, by }),
    TaskSummary,
  ),
  abortConflict: post(
    '/v1/projects/:project/conflicts/:task/abort',
    'Restarts the task on the newest target; the work so far is kept in a snapshot',
    z.strictObject({ ...ofTask, by }),
    TaskSummary,
  ),
};
