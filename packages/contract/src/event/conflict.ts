import { z } from 'zod';
import { Actor } from '../actor.ts';
import { FileResolution } from '../conflict.ts';
import { event, ofTask, said } from './event.ts';

export const conflictEvents = [
  event(
    'conflict.file_resolved',
    { ...ofTask, path: z.string(), how: FileResolution, by: Actor },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ by, path, how }) => said(by, `resolved ${path}${how === 'text' ? '' : ` (${how})`}`),
    },
  ),
  /** All files are resolved. The merge commit comes next. */
  event(
    'conflict.settle_begun',
    { ...ofTask, by: Actor },
    { stale: ['task'], says: ({ by }) => said(by, 'is settling the conflict') },
  ),
  /** A person marked the conflict as resolved; the merge commit is on the branch. */
  event(
    'conflict.settled',
    { ...ofTask, files: z.array(z.string()), by: Actor },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ by }) => said(by, 'marked the conflict as resolved'),
    },
  ),
  /** The work so far is kept in the snapshot; the task starts again on another branch. */
  event(
    'conflict.aborted',
    {
      ...ofTask,
      by: Actor,
      from: z.string(),
      branch: z.string(),
      snapshot: z.string().nullable(),
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ by, branch }) => said(by, `aborted the conflict; the task starts again on ${branch}`),
    },
  ),
] as const;
