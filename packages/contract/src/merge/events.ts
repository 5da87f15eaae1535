import { z } from 'zod';
import { event, mill, ofTask } from '../event/define.ts';
import { PullRequestRef } from '../forge/pull-request.ts';
import { PreparedMerge } from '../task/task.ts';

export const mergeEvents = [
  event(
    'merge.prepared',
    {
      ...ofTask,
      ...PreparedMerge.shape,
      evidence: z.array(z.string()),
      /** The tree that was proven, if the commit is part of a batch. */
      proven: z.string().optional(),
    },
    {
      stale: ['task', 'landed', 'conflicts'],
      shown: 'log',
      says: ({ commit }) => mill(`prepared to land it as ${commit.slice(0, 10)}`),
    },
  ),
  event(
    'merge.abandoned',
    { ...ofTask, why: z.string() },
    { stale: ['task', 'landed', 'conflicts'], shown: 'terminal', says: ({ why }) => mill(`did not land it: ${why}`) },
  ),
  event(
    'merge.offered',
    { ...ofTask, commit: z.string(), tree: z.string(), name: z.string() },
    { stale: ['task'], shown: 'terminal', says: ({ name }) => mill(`pushed it as ${name}, for a pull request`) },
  ),
  event(
    'merge.pull_opened',
    { ...ofTask, number: z.number().int(), url: z.string() },
    { stale: ['task'], shown: 'terminal', says: ({ number }) => mill(`opened pull request #${number}`) },
  ),
  event(
    'merge.commented',
    { ...ofTask, ...PullRequestRef.pick({ number: true, seen: true }).shape, authors: z.array(z.string()) },
    {
      stale: ['task'],
      shown: 'terminal',
      says: ({ number, authors }) => mill(`passes on what ${authors.join(', ')} said on pull request #${number}`),
    },
  ),
  event(
    'merge.queued',
    { ...ofTask, number: z.number().int(), after: z.string() },
    {
      stale: ['task'],
      shown: 'terminal',
      says: ({ number }) => mill(`puts pull request #${number} into the merge queue`),
    },
  ),
  event(
    'merge.landed',
    {
      ...ofTask,
      commit: z.string(),
      tree: z.string(),
      /** The workers whose figures count it as completed. */
      workers: z.array(z.string()).optional(),
    },
    {
      stale: ['task', 'landed', 'conflicts', 'metrics'],
      shown: 'terminal',
      says: ({ commit }) => mill(`landed it as ${commit.slice(0, 10)}`),
    },
  ),
] as const;
