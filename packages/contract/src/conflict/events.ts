import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { counted, event, mill, ofTask, said } from '../event/define.ts';
import { FileResolution, MergeLoss } from './conflict.ts';

export const conflictEvents = [
  /** It conflicts with the target. `resolved`: how many conflicts before this one were resolved and proven. */
  event(
    'conflict.met',
    {
      ...ofTask,
      base: z.string(),
      files: z.array(z.string()),
      resolved: z.number().int(),
      /** The tasks that landed since the last resolution and changed these files. */
      overtakenBy: z.array(z.number().int()),
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ files, resolved, overtakenBy }) => {
        const by = overtakenBy.map((number) => `#${number}`).join(', ');
        const before =
          resolved > 0 ? ` (resolved ${counted(resolved, 'time')} before${by && `, now overtaken by ${by}`})` : '';
        return mill(`conflicts in ${files.join(', ')}${before}`);
      },
    },
  ),
  /** It was blocked for repeated conflicts. Nothing else lands now, so no other task can overtake it. */
  event(
    'conflict.retried',
    { ...ofTask, tries: z.number().int() },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: () => mill('tries the conflict again: nothing else is about to land'),
    },
  ),
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
    { ...ofTask, by: Actor, accepts: z.array(z.string()).default([]) },
    { stale: ['task'], says: ({ by }) => said(by, 'is settling the conflict') },
  ),
  /** A person marked the conflict as resolved; the merge commit is on the branch. */
  event(
    'conflict.settled',
    {
      ...ofTask,
      files: z.array(z.string()),
      by: Actor,
      /** What the resolution drops of the target, and the person accepted. */
      accepts: z.array(MergeLoss).default([]),
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ by, accepts }) => {
        const dropped = [...new Set(accepts.map(({ path }) => path))].join(', ');
        return said(by, `marked the conflict as resolved${dropped ? ` and accepts what it drops in ${dropped}` : ''}`);
      },
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
